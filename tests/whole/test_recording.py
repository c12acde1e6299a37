"""Recording goes wrong: bad answers, a kill, an interrupt. What is committed is proven, what was paid for is kept."""

import os
import shutil
import signal
import threading

import pytest

from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.cassettes.manifest_lines import is_listed
from evals.secret_filter import allowed_beside
from tests.builders.at_once import evals_at_once
from tests.builders.checkout import a_checkout, cassettes, evals
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

REFUSALS = {
    "an outage": ((500, "application/json", b'{"error": "down"}'), "status 500"),
    "a web page": ((200, "text/html", b"<html>please log in</html>"), "content type text/html"),
    "half an answer": ((200, "application/json", b'{"choices": [{'), "not whole JSON"),
}


@pytest.mark.parametrize(("refusal", "cause"), REFUSALS.values(), ids=REFUSALS.keys())
def test_an_unusable_answer_is_three_and_nothing_is_committed(tmp_path, refusal, cause):
    checkout = a_checkout(tmp_path)
    with an_llm_server(lambda *_: refusal) as llm:
        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url, "--set", "retries=0")

    assert said.code == 3
    assert cause in said.err
    assert "Traceback" not in said.err
    assert cassettes(checkout) == {}


def test_a_recording_that_is_killed_goes_on_where_it_was(story, tmp_path):
    """Nothing that was answered is asked again, but for the request in flight; and the tape is the same in the end."""
    done, _, asked = story
    checkout = a_checkout(tmp_path)
    enough = threading.Event()
    with an_llm_server() as llm:
        llm.heard = lambda count: enough.set() if count == 7 else None
        process = evals_at_once(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
        assert enough.wait(300), process.communicate()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        before = len(llm.asked)

        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)

    assert said.code == 0, said.err
    assert before < asked["recorded"]
    assert len(llm.asked) - asked["recorded"] <= 4  # in flight when it was killed
    assert cassettes(checkout).keys() == cassettes(done).keys()
    assert evals(checkout, "plan", "tiny.yaml").code == 0


@pytest.mark.parametrize("more", [(), ("--refresh",)], ids=["recorded", "refreshed"])
def test_the_cassette_that_a_recording_wrote_is_read_before_the_next_run(tmp_path, more):
    checkout = a_checkout(tmp_path)
    with an_llm_server() as llm:
        said = evals(checkout, "record", "tiny.yaml", "--case", "wrong-sum", "--base-url", llm.base_url, *more)

    path = checkout / "cassettes" / "wrong-sum.yaml"
    content = path.read_bytes()
    readings = Readings(checkout / ".cache" / FOLDER)
    assert readings.get(content, allowed_beside(path), listed=is_listed(path, content)), said.err
    assert readings.get(content, allowed_beside(path), listed=True) == load(path).interactions


def test_answers_that_wait_from_before_give_way_to_what_was_committed_meanwhile(tmp_path):
    """A recording broke off, a colleague's of another variant was pulled: what is proven now rests on the latter."""
    checkout = a_checkout(tmp_path / "checkout")
    staging = checkout / ".cache" / "recording"
    ours = answering(investigator={**WORKER_REPLIES["investigator"], "summary": "Prices are read twice."})
    with an_llm_server(ours) as llm:
        limits = ("--max-requests", "5", "--set", "concurrency=1")
        evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url, *limits)
        staging.rename(tmp_path / "staged")
        with an_llm_server() as theirs:
            evals(checkout, "record", "tiny.yaml", "--variant", "old", "--base-url", theirs.base_url)
        shutil.rmtree(staging)
        (tmp_path / "staged").rename(staging)

        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)

    assert said.code == 0, said.err
    assert evals(checkout, "plan", "tiny.yaml").code == 0


def test_an_interrupted_recording_keeps_what_was_under_way_and_says_how_to_go_on(tmp_path):
    checkout = a_checkout(tmp_path)
    waiting, release = threading.Event(), threading.Event()

    def slow(agent, body):
        waiting.set()
        release.wait()
        return answering()(agent, body)

    with an_llm_server(slow) as llm:
        process = evals_at_once(checkout, "record", "tiny.yaml", "--base-url", llm.base_url, "--set", "concurrency=1")
        assert waiting.wait(300), process.communicate()
        process.send_signal(signal.SIGINT)
        err = said_up_to("finishing 1 requests under way", process)
        release.set()
        err += process.communicate(timeout=300)[1]

    assert process.returncode == 130
    assert "interrupted; what was finished is kept, run the same command to go on" in err
    assert "Traceback" not in err
    assert len(llm.asked) == sum(len(load(path).interactions) for path in staged(checkout)) == 1


def stored(checkout):
    """Every file below `cassettes/`, by path."""
    files = (path for path in (checkout / "cassettes").rglob("*") if path.is_file() and not path.name.endswith(".lock"))
    return {path.relative_to(checkout): path.read_bytes() for path in files}


REQUESTS = 11
"""Of one trial and its decision point."""
NEW = answering(investigator={**WORKER_REPLIES["investigator"], "summary": "Prices are read twice."})


@pytest.mark.parametrize("answers", [1, *([5] if every() else []), 12, 22])
def test_an_interrupted_refresh_of_one_variant_leaves_the_cassettes_and_the_same_command_goes_on(checkout, answers):
    """At the 12th answer the first of the two cases is recorded whole; the 22nd is the last."""
    before, asked, waiting, release = stored(checkout), [], threading.Event(), threading.Event()

    def slow(agent, body):
        asked.append(agent)
        if len(asked) == answers:
            waiting.set()
            release.wait()
        return NEW(agent, body)

    with an_llm_server(slow) as llm:
        words = ("record", "tiny.yaml", "--refresh", "--variant", "new", "--base-url", llm.base_url)
        process = evals_at_once(checkout, *words, "--set", "concurrency=1")
        assert waiting.wait(300), process.communicate()
        process.send_signal(signal.SIGINT)
        err = said_up_to("requests under way", process)
        release.set()
        err += process.communicate(timeout=300)[1]
        kept = stored(checkout)

        again = evals(checkout, *words)

    assert process.returncode == 130, err
    assert kept == before
    assert again.code == 0, again.err
    assert stored(checkout).keys() == before.keys()
    assert all(b"Prices are read twice." in text for path, text in stored(checkout).items() if path.suffix == ".yaml")
    assert len(asked) == 2 * REQUESTS  # nothing is asked twice


def test_a_second_interrupt_waits_for_nothing(tmp_path):
    checkout = a_checkout(tmp_path)
    waiting, release = threading.Event(), threading.Event()

    def stuck(*_):
        waiting.set()
        release.wait()
        return answering()(*_)

    with an_llm_server(stuck) as llm:
        process = evals_at_once(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
        assert waiting.wait(300), process.communicate()
        process.send_signal(signal.SIGINT)
        err = said_up_to("requests under way", process)
        process.send_signal(signal.SIGINT)
        err += process.communicate(timeout=300)[1]  # without an answer to what was asked
        release.set()

    assert process.returncode == 130
    assert "Traceback" not in err


def said_up_to(text, process):
    """What the process says on stderr, up to the line with `text`; all it says if it ends before."""
    said = ""
    for line in process.stderr:
        said += line
        if text in line:
            break
    assert text in said, said
    return said


def staged(checkout):
    """The cassettes of answers that wait for their proof."""
    return sorted((checkout / ".cache" / "recording").rglob("*.yaml"))


def test_the_key_is_sent_and_never_written(tmp_path, monkeypatch):
    checkout = a_checkout(tmp_path)
    monkeypatch.setenv("TEAM_KEY", "planted-key-4711")
    with an_llm_server() as llm:
        evals(
            checkout,
            "record",
            "tiny.yaml",
            "--base-url",
            llm.base_url,
            *("--set", "api_key_env=TEAM_KEY"),
            "--case",
            "wrong-sum",
        )

    assert set(llm.authorised) == {"Bearer planted-key-4711"}
    written = [path.read_bytes() for path in checkout.rglob("*") if path.is_file()]
    assert not any(b"planted-key-4711" in content for content in written)


def test_a_suite_that_is_recorded_needs_no_endpoint(checkout, monkeypatch):
    monkeypatch.delenv("EVALS_BASE_URL", raising=False)
    said = evals(checkout, "record", "tiny.yaml")

    assert (said.code, said.out) == (0, "Nothing is missing: all 4 trials of tiny are recorded.\n"), said.err
