"""Recording without an endpoint, whole: what files bring home is what an endpoint would have given."""

import json
import os
import re
import shutil
import signal
import time

import pytest

from tests.builders.at_once import evals_at_once
from tests.builders.batch import ASKING_A_SERVER, a_command, an_answer, answers, requests_in
from tests.builders.checkout import a_checkout, cassettes, evals
from tests.builders.llm_server import an_llm_server, answering

pytestmark = pytest.mark.slow

OF_THE_RECORDING = re.compile(rb", (?:recorded_at|latency_ms|recorded_by): (?:\"[^\"]*\"|[0-9.e+-]+)")


def what_was_said(checkout):
    """The cassettes without what differs from one recording to the next."""
    return {name: OF_THE_RECORDING.sub(b"", text) for name, text in cassettes(checkout).items()}


def by_hand(checkout, *options, rounds=20):
    """Export, answer, import, until nothing waits; how many rounds it took."""
    said = evals(checkout, "record", "tiny.yaml", "--export", "rounds", *options)
    for number in range(1, rounds):
        if said.code != 3:
            return number - 1
        folder = checkout / "rounds" / f"round-{number:03}"
        file = answers(checkout / f"back-{number}.jsonl", map(an_answer, requests_in(folder)))
        said = evals(checkout, "record", "tiny.yaml", "--export", "rounds", "--import", file.name, *options)
    raise AssertionError(said)


def test_rounds_by_hand_give_the_bytes_of_a_live_recording(story, tmp_path):
    checkout = a_checkout(tmp_path)

    by_hand(checkout)

    assert what_was_said(checkout) == what_was_said(story[0])
    assert evals(checkout, "plan", "tiny.yaml").code == 0


def test_a_command_that_answers_round_by_round_gives_the_bytes_of_a_live_recording(story, tmp_path):
    checkout = a_checkout(tmp_path / "checkout")
    with an_llm_server() as llm:
        command = a_command(tmp_path, ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        words = ("--export", "rounds", "--answer-with", command, "--set", "shards=2")
        said = evals(checkout, "record", "tiny.yaml", *words)

    assert said.code == 0, said.err
    assert "4 of 4 trials replay exactly" in said.out
    assert what_was_said(checkout) == what_was_said(story[0])


def test_an_edited_prompt_asks_for_the_supervisors_answers_only(checkout, tmp_path):
    """The workers' answers are on tape already; and what was judged before is judged again."""
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    with an_llm_server() as llm:
        command = a_command(tmp_path, ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        said = evals(checkout, "record", "tiny.yaml", "--export", "rounds", "--answer-with", command)

    assert said.code == 0, said.err
    assert set(llm.asked) == {"supervisor"}
    assert evals(checkout, "run", "tiny.yaml").code in (0, 1)


def test_nothing_enters_the_cassettes_before_its_trial_is_whole(tmp_path):
    checkout = a_checkout(tmp_path)
    evals(checkout, "record", "tiny.yaml", "--export", "rounds")
    first = answers(tmp_path / "back.jsonl", map(an_answer, requests_in(checkout / "rounds" / "round-001")))

    said = evals(checkout, "record", "tiny.yaml", "--import", str(first))

    assert said.code == 3
    assert cassettes(checkout) == {}
    assert list((checkout / ".cache" / "recording").glob("*.yaml"))


def test_importing_a_file_again_changes_nothing(tmp_path):
    checkout = a_checkout(tmp_path / "checkout")
    evals(checkout, "record", "tiny.yaml", "--export", "rounds")
    first = answers(tmp_path / "back.jsonl", map(an_answer, requests_in(checkout / "rounds" / "round-001")))
    evals(checkout, "record", "tiny.yaml", "--import", str(first))
    shutil.copytree(checkout / ".cache" / "recording", tmp_path / "before")

    said = evals(checkout, "record", "tiny.yaml", "--import", str(first))

    staged = {path.name: path.read_bytes() for path in (checkout / ".cache" / "recording").glob("*.yaml")}
    assert staged == {path.name: path.read_bytes() for path in (tmp_path / "before").glob("*.yaml")}
    assert "(0 new answers, 4 on record before)" in said.out


def test_every_line_of_no_use_is_named_and_the_others_are_taken_in(tmp_path):
    """One answer is missing, one breaks its schema, one is nobody's, one line is cut; two are good."""
    checkout = a_checkout(tmp_path / "checkout")
    evals(checkout, "record", "tiny.yaml", "--export", "rounds")
    good, invalid, missing, point = map(an_answer, requests_in(checkout / "rounds" / "round-001"))
    invalid["response"]["body"]["choices"][0]["message"]["content"] = "Let me think."
    file = answers(checkout / "back.jsonl", [good, invalid, point | {"custom_id": "4711"}, '{"custom_id": "47', point])

    said = evals(checkout, "record", "tiny.yaml", "--import", "back.jsonl", "--export", "rounds")

    assert said.code == 3
    lines = said.err.splitlines()
    assert any(line.startswith(f"{file.name}:2: {invalid['custom_id'][:12]}") and "schema" in line for line in lines)
    assert f"{file.name}:3: 4711: no trial asks for this now; nothing is recorded of it" in lines
    assert f"{file.name}:4: not JSON, or cut short; this line is skipped" in lines
    assert any(line.startswith(missing["custom_id"][:12]) and line.endswith("no answer came back") for line in lines)
    assert "(2 new answers)" in said.out
    again = {asked["custom_id"] for asked in requests_in(checkout / "rounds" / "round-002")}
    assert {invalid["custom_id"], missing["custom_id"]} <= again
    assert good["custom_id"] not in again


def test_a_killed_loop_goes_on_with_what_was_answered(tmp_path):
    """The command had answered one request when everything was killed; that one is never asked again."""
    checkout = a_checkout(tmp_path / "checkout")
    slow = ASKING_A_SERVER + "    import time; time.sleep(600)\n"
    with an_llm_server() as llm:
        words = ("record", "tiny.yaml", "--case", "wrong-sum", "--export", "rounds", "--answer-with")
        server = llm.base_url.removesuffix("/v1")
        process = evals_at_once(checkout, *words, a_command(tmp_path / "slow", slow, server))
        file = checkout / "rounds" / "round-001" / "answers-1.jsonl"
        until(lambda: file.exists() and file.read_text(encoding="utf-8").endswith("\n"), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        said = evals(checkout, *words, a_command(tmp_path / "quick", ASKING_A_SERVER, server))

    assert said.code == 0, said.err
    asked = [request["custom_id"] for request in requests_in(checkout / "rounds" / "round-002")]
    assert json.loads(file.read_text(encoding="utf-8"))["custom_id"] not in asked


def until(holds, process, seconds=300):
    """Wait for something; a process that ends before is shown."""
    end = time.monotonic() + seconds
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def test_who_answered_stands_in_the_cassette_and_in_the_report(tmp_path):
    """Here no answer names its model, as where people or other agents answer."""
    checkout = a_checkout(tmp_path / "checkout")
    with an_llm_server(nameless) as llm:
        command = a_command(tmp_path, ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        who = ("--recorded-by", "the night shift", "--set", "model=big-70b", "--case", "wrong-sum")
        evals(checkout, "record", "tiny.yaml", "--export", "rounds", "--answer-with", command, *who)

    assert b'model: "big-70b"' in cassettes(checkout)["wrong-sum.yaml"]
    assert "big-70b (recorded by the night shift)" in evals(checkout, "run", "tiny.yaml", "--case", "wrong-sum").out


def nameless(agent, body):
    """What the whole team would answer, without the model's name."""
    status, kind, content = answering()(agent, body)
    answer = json.loads(content)
    del answer["model"]
    return status, kind, json.dumps(answer).encode()


CLASHES = {
    "no folder": (["--answer-with", "cat"], "--answer-with CMD goes with --export DIR"),
    "both ways": (["--export", "r", "--answer-with", "cat", "--import", "a"], "does what --import does by hand"),
    "shards of nothing": (["--import", "tiny.yaml", "--set", "shards=2"], "add --export DIR, or leave it out"),
    "an endpoint nobody asks": (["--export", "r", "--base-url", "http://x.invalid/v1"], "--base-url: only where an"),
    "tries of nobody": (["--export", "r", "--set", "retries=0"], "--set retries: only where an endpoint is asked"),
    "live shards": (["--set", "shards=2"], "are settings of batch rounds"),
    "two suites": (["prompts"], "one suite at a time: prompts is too much"),
    "no file": (["--import", "nowhere.jsonl"], "--import nowhere.jsonl: No such file or directory"),
}


@pytest.mark.parametrize(("options", "said"), CLASHES.values(), ids=CLASHES.keys())
def test_options_that_do_not_go_together_are_two(tmp_path, options, said):
    found = evals(a_checkout(tmp_path), "record", "tiny.yaml", *options)

    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_an_invalid_answer_is_recorded_on_request_as_what_the_model_did(tmp_path):
    checkout = a_checkout(tmp_path / "checkout")
    evals(checkout, "record", "tiny.yaml", "--export", "rounds")
    lines = list(map(an_answer, requests_in(checkout / "rounds" / "round-001")))
    for line in lines:
        line["response"]["body"]["choices"][0]["message"]["content"] = "Let me think."
    answers(checkout / "back.jsonl", lines)

    words = ("--import", "back.jsonl", "--export", "rounds", "--set", "keep_invalid=yes")
    said = evals(checkout, "record", "tiny.yaml", *words)

    assert "(4 new answers)" in said.out
    corrections = requests_in(checkout / "rounds" / "round-002")
    assert "could not be used" in corrections[0]["body"]["messages"][-1]["content"]


def test_what_is_on_tape_is_not_run_again(checkout, tmp_path):
    """It is proven for these very bytes; nothing is said of it, and nothing asked."""
    said = evals(checkout, "record", "tiny.yaml", "--export", str(tmp_path / "rounds"))

    assert (said.code, said.err) == (0, "")
    assert said.out == "tiny: 4 of 4 trials replay exactly (0 new answers).\n"
    assert "4 reused unchanged" in evals(checkout, "run", "tiny.yaml").out
