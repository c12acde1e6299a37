"""Recording without an endpoint, whole: what files bring home is what an endpoint would have given."""

import re
import shutil

import pytest

from tests.builders.batch import ASKING_A_SERVER, a_command, an_answer, answers, requests_in
from tests.builders.checkout import a_checkout, cassettes, evals
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow

OF_THE_RECORDING = re.compile(rb"^ +(?:recorded_at|latency_ms|recorded_by): .*\n", re.MULTILINE)


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
        said = evals(checkout, "record", "tiny.yaml", "--rounds", "rounds", "--answer-with", command, "--shards", "2")

    assert said.code == 0, said.err
    assert "4 of 4 trials replay exactly" in said.out
    assert what_was_said(checkout) == what_was_said(story[0])


def test_an_edited_prompt_asks_for_the_supervisors_answers_only(checkout, tmp_path):
    """The workers' answers are on tape already; and what was judged before is judged again."""
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text(encoding="utf-8") + "\nBe brief.\n", encoding="utf-8")
    with an_llm_server() as llm:
        command = a_command(tmp_path, ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        said = evals(checkout, "record", "tiny.yaml", "--rounds", "rounds", "--answer-with", command)

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
