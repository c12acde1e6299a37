"""An endpoint that will not, cannot, or costs too much: one clear line, nothing lost, nothing half-recorded."""

import asyncio
import contextlib
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from evals.cassettes.cassette_files import load
from evals.cassettes.recorder import Recorder
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.pipeline.record_suite import EndpointOptions, record_suite
from evals.recording.endpoint import Endpoint
from evals.recording.recording_session import TrialCounts
from evals.triage.dataset.web_search_server import running
from tests.builders.checkout import a_checkout, cassettes, evals
from tests.builders.dataset import write
from tests.builders.llm_server import Answer, an_llm_server, answering
from tests.builders.ports import a_reserved_port
from tests.builders.unruly import first, hanging, limiting, refusing, resetting, streaming

pytestmark = pytest.mark.slow

HOPELESS = {
    "a wrong key": (refusing(401), "set the right one (OPENAI_API_KEY, or that of --set api_key_env)"),
    "a key of little power": (refusing(403), "the key may not do this"),
    "no such model": (refusing(404, "model_not_found"), "status 404 about m; there is no such model or address"),
    "an empty account": (refusing(429, "insufficient_quota"), "the account is out of credit"),
    "a patience too long": (limiting("3600"), "run it again later"),
    "a stream": (streaming, "a stream: name an endpoint that answers in one piece"),
}
PASSING = {
    "outages": refusing(503),
    "a rate limit": limiting("1"),
    "resets": resetting,
}


ONE = ("--case", "wrong-sum")


def record(checkout: Path, url: str, *words: str):
    return evals(checkout, "record", "tiny.yaml", "--base-url", url, *words)


def written(checkout: Path) -> list[Path]:
    """What recording has put anywhere."""
    return [*(checkout / "cassettes").rglob("*"), *(checkout / ".cache" / "recording").rglob("*.yaml")]


@pytest.mark.parametrize(("answer", "advice"), HOPELESS.values(), ids=HOPELESS.keys())
def test_an_endpoint_that_will_never_answer_is_one_line_and_nothing_is_written(tmp_path, answer, advice):
    checkout = a_checkout(tmp_path)
    with an_llm_server(answer) as llm:
        said = record(checkout, llm.base_url)

    assert said.code == 3
    assert advice in said.err
    assert said.err.count("\n") == 1
    assert len(llm.asked) <= 4  # those in flight together; never one for each of the suite's requests
    assert written(checkout) == []


def test_a_dead_host_is_one_line_at_once_and_nothing_is_written(tmp_path):
    checkout = a_checkout(tmp_path)
    with a_reserved_port() as port:
        said = record(checkout, f"http://127.0.0.1:{port}/v1")

    assert said.code == 3
    assert "see that the endpoint is up, then run it again" in said.err
    assert "asking again" not in said.err
    assert written(checkout) == []


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
def test_what_passes_is_asked_again_and_leaves_no_trace_on_the_tape(tmp_path, story, fault):
    """The same requests as an endpoint without a fault would have been asked."""
    checkout = a_checkout(tmp_path)
    with an_llm_server(first(2, fault)) as llm:
        said = record(checkout, llm.base_url, *ONE)

    assert said.code == 0, said.err
    assert "asking again in" in said.err
    assert keys(checkout) == of_one(story[0])
    assert len(llm.asked) == len(of_one(story[0])) + 2


def test_an_endpoint_that_hangs_is_given_up_after_the_timeout(tmp_path):
    checkout = a_checkout(tmp_path)
    with an_llm_server(first(1, hanging)) as llm:
        said = record(checkout, llm.base_url, "--set", "timeout=1", "--set", "retries=0", "--set", "concurrency=1")

    assert said.code == 3
    assert "no whole answer within 1 s: --set timeout=S raises that" in said.err
    assert evals(checkout, "plan", "tiny.yaml").code == 3


def test_an_endpoint_that_stays_down_is_not_asked_for_every_trial(tmp_path):
    checkout = a_checkout(tmp_path)
    with an_llm_server(refusing(500)) as llm:
        said = record(checkout, llm.base_url, "--set", "retries=0", "--repeat", "10", "--set", "concurrency=1")

    assert "5 requests in a row failed" in said.err
    assert len(llm.asked) == 5


def keys(checkout: Path) -> set[tuple[str, str, int]]:
    """Case, key and sample of every committed answer."""
    found = ((path.stem, load(path)) for path in (checkout / "cassettes").glob("*.yaml"))
    return {(case, each.key, each.sample) for case, cassette in found for each in cassette.interactions}


def of_one(checkout: Path) -> set[tuple[str, str, int]]:
    """Those of the case `wrong-sum`."""
    return {key for key in keys(checkout) if key[0] == "wrong-sum"}


def test_a_number_of_requests_is_kept_and_the_next_run_goes_on(tmp_path, story):
    checkout = a_checkout(tmp_path)
    with an_llm_server() as llm:
        said = record(checkout, llm.base_url, *ONE, "--max-requests", "3")
        asked = len(llm.asked)
        again = record(checkout, llm.base_url, *ONE)

    assert (said.code, asked, again.code) == (3, 3, 0)
    assert "--max-requests 3 is reached; run it again to go on" in said.err
    assert len(llm.asked) == len(of_one(story[0]))


def test_a_budget_ends_the_recording_before_it_is_overrun(tmp_path):
    """The fake server counts two tokens per answer; what a request may cost is reserved beforehand."""
    checkout = a_checkout(tmp_path)
    table = write(tmp_path / "prices.yaml", yaml.safe_dump(a_table(usd_per_million_output=100)))
    with an_llm_server() as llm:
        said = record(checkout, llm.base_url, "--budget", "0.1025", "--prices", str(table), "--set", "concurrency=1")

    assert said.code == 3
    assert "the budget of 0.1025 USD does not cover the next request" in said.err
    assert 0 < len(llm.asked) < 20


def a_table(**prices: float) -> dict[str, object]:
    free = {"usd_per_million_input": 0, "usd_per_million_output": 0}
    return {"as_of": datetime(2026, 11, 22, tzinfo=UTC).date(), "models": {"m": free | prices}}


def test_a_budget_without_a_price_is_a_usage_error(tmp_path):
    said = record(a_checkout(tmp_path), "http://127.0.0.1:9/v1", "--budget", "1")

    assert said.code == 2
    assert "no price is known for m; name it in a table of your own with --prices FILE" in said.err


def another(agent, body):
    """Answers in other words than `answering`, to the same effect."""
    status, kind, content = answering(investigator=INVESTIGATED)(agent, body)
    return status, kind, content


INVESTIGATED = {
    "reasoning": "r",
    "summary": "said anew",
    "confidence": 0.6,
    "error": None,
    "hypothesis": "Quantities are overwritten.",
    "affected_areas": ["cart"],
    "keywords_for_search": ["cart"],
    "error_messages": [],
}


def test_a_refresh_asks_again_and_replaces_what_was_there(checkout):
    before = cassettes(checkout)
    with an_llm_server(another) as llm:
        said = record(checkout, llm.base_url, "--refresh", *ONE)

    assert said.code == 0, said.err
    after = cassettes(checkout)
    assert [b"said anew" in text["wrong-sum.yaml"] for text in (before, after)] == [False, True]
    assert before["wrong-total.yaml"] == after["wrong-total.yaml"]
    assert evals(checkout, "plan", "tiny.yaml").code == 0


def test_a_refresh_that_breaks_off_keeps_every_old_answer_and_goes_on(checkout):
    before = cassettes(checkout)
    with an_llm_server(another) as llm:
        said = record(checkout, llm.base_url, "--refresh", "--max-requests", "5")
        kept = cassettes(checkout)
        again = record(checkout, llm.base_url, "--refresh")
        asked = len(llm.asked)
        record(checkout, llm.base_url, "--refresh")

    assert (said.code, kept, again.code) == (3, before, 0)
    assert len(llm.asked) == 2 * asked  # the first two asked for everything once, and so did the third


def test_samples_are_asked_for_one_by_one_and_replay(tmp_path, story):
    checkout = a_checkout(tmp_path)
    with an_llm_server() as llm:
        said = record(checkout, llm.base_url, "--repeat", "2", *ONE)

    assert said.code == 0, said.err
    assert keys(checkout) == {(case, key, n) for case, key, _ in of_one(story[0]) for n in range(2)}
    assert evals(checkout, "plan", "tiny.yaml", "--repeat", "2", *ONE).code == 0
    assert evals(checkout, "plan", "tiny.yaml", "--repeat", "3", *ONE).code == 3


def test_recording_with_eight_requests_in_flight_gives_the_bytes_of_one(tmp_path):
    """A deterministic server whose answers come back in another order; the clocks stand still."""
    tapes = {}
    for at_once in (1, 8):
        checkout = a_checkout(tmp_path / str(at_once))
        with an_llm_server(out_of_turn()) as llm, contextlib.chdir(checkout):
            tally = asyncio.run(recorded(checkout, llm.base_url, at_once))
        tapes[at_once] = cassettes(checkout)

        assert tally == TrialCounts(planned=4, proven=4, failed=0)
    assert tapes[8] == tapes[1]


def out_of_turn() -> Answer:
    """Every answer takes a time of its own, the first ones longest."""

    def answer(agent, body):
        time.sleep(len(str(body)) % 7 / 50)
        return answering()(agent, body)

    return answer


async def recorded(checkout: Path, url: str, at_once: int) -> TrialCounts:
    """The tiny suite, as `evals record` wires it, but for the clocks."""
    chosen = selected(str(checkout / "tiny.yaml"), checkout, Options())
    recorder = Recorder(lambda: datetime(2026, 11, 22, tzinfo=UTC), lambda: 0.0, "t", asyncio.Semaphore(at_once))
    asking = EndpointOptions(timeout_s=60, retries=0, concurrency=at_once, refresh=False)
    with running(chosen.workspace.datasets) as search:
        return await record_suite(
            chosen, recorder, Endpoint(url, ""), Endpoint(search, ""), asking, skip=(), told=lambda *_: None
        )


def test_an_answer_names_the_git_user_unless_told_otherwise(tmp_path):
    checkout = a_checkout(tmp_path)
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    subprocess.run(["git", "-C", str(checkout), "config", "user.name", "Ada"], check=True)
    with an_llm_server() as llm:
        record(checkout, llm.base_url, *ONE)

    assert {each.recorded_by for each in load(checkout / "cassettes" / "wrong-sum.yaml").interactions} == {"Ada"}
