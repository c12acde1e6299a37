"""A judge on the tape, whole: asked once, replayed for ever, and asked again as soon as its prompt is another."""

import json
import shutil
from datetime import date

import pytest

from evals.cli.cassette_upkeep import prune, status
from evals.triage.judge import triage_rubric as prompt
from tests.builders.batch import ASKING_A_SERVER, a_command
from tests.builders.checkout import a_checkout, a_suite, cassettes, evals
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A checkout whose suite has a judge, wholly recorded; and who was asked how often."""
    checkout = a_checkout(tmp_path_factory.mktemp("judge") / "checkout", judge="v1")
    with an_llm_server() as llm:
        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
    assert said.code == 0, said.err
    return checkout, list(llm.asked)


@pytest.fixture
def checkout(judged, tmp_path):
    return shutil.copytree(judged[0], tmp_path / "checkout")


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """The judge's prompts with another sentence in the rubric."""
    folder = shutil.copytree(prompt.HERE, tmp_path / "prompts")
    rubric = folder / "v1" / "rubric.md"
    text = rubric.read_text(encoding="utf-8")
    rubric.write_text(text.replace("curt, or up to 230 words", "curt, or up to 220 words"), encoding="utf-8")
    monkeypatch.setattr(prompt, "HERE", folder)


def test_a_suite_with_a_judge_records_its_answers_after_the_trials_in_a_folder_of_their_own(judged):
    checkout, asked = judged

    assert asked.count("judge") == len({(path.stem) for path in (checkout / "cassettes" / "judge").glob("*.yaml")})
    assert asked[-1].startswith("judge")
    assert evals(checkout, "plan", "tiny.yaml").out == "Nothing is missing: all 4 trials of tiny are recorded.\n"


def test_a_judge_leaves_every_other_cassette_byte_for_byte(judged, story):
    def of_trials(folder):
        return sorted(path.name for path in (folder / "cassettes").glob("*.yaml"))

    assert of_trials(judged[0]) == of_trials(story[0])
    assert not (story[0] / "cassettes" / "judge").exists()
    assert evals(judged[0], "cassette", "verify").code == 0


def test_a_run_shows_what_the_judge_said_and_what_that_is_worth(checkout):
    said = evals(checkout, "run", "tiny.yaml", "--verbose")

    assert "judge.root_cause" in said.out
    assert "they were not measured here" in said.out
    assert '"judge": {' in (checkout / "reports" / "latest" / "run.json").read_text(encoding="utf-8")


def test_an_edited_judge_prompt_cannot_be_judged_and_the_plan_names_its_line(checkout, edited):
    run, plan = evals(checkout, "run", "tiny.yaml"), evals(checkout, "plan", "tiny.yaml")

    assert (run.code, plan.code) == (3, 3)
    assert "its judge has not answered" in run.out
    assert "prompt edited: judge/v1/rubric.md:" in plan.out.replace("prompts/v1", "judge/v1")


def test_what_a_judge_was_asked_with_an_older_prompt_is_unused_and_pruned(checkout, edited, monkeypatch, capsys):
    monkeypatch.chdir(checkout)
    with an_llm_server() as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0

    capsys.readouterr()
    assert status("tiny.yaml", checkout, jobs=1, today=date(2027, 1, 1), as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(found["unused"] * 2, found["interactions"]) for found in told["judge_cassettes"]] == [(2, 2), (2, 2)]
    assert prune(checkout, jobs=1, yes=True, shipped=["tiny.yaml"]) == 0

    assert "2 interactions dropped" in capsys.readouterr().out
    assert evals(checkout, "plan", "tiny.yaml").code == 0
    assert evals(checkout, "cassette", "verify").code == 0


def test_a_suite_without_a_judge_asks_nothing_new(checkout):
    a_suite(checkout)

    assert evals(checkout, "plan", "tiny.yaml").code == 0
    assert "judge.root_cause" not in evals(checkout, "run", "tiny.yaml", "--verbose").out
    assert '"judge"' not in (checkout / "reports" / "latest" / "run.json").read_text(encoding="utf-8")


def test_batch_rounds_give_the_judge_the_answers_of_a_live_recording(judged, tmp_path):
    checkout = a_checkout(tmp_path / "checkout", judge="v1")
    with an_llm_server() as llm:
        command = a_command(tmp_path, ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        said = evals(checkout, "record", "tiny.yaml", "--export", "rounds", "--answer-with", command)

    assert said.code == 0, said.err
    assert (checkout / "rounds" / "judge" / "round-001" / "shard-1.jsonl").exists()
    assert cassettes(checkout).keys() == cassettes(judged[0]).keys()
    assert evals(checkout, "plan", "tiny.yaml").code == 0


def test_a_suite_without_a_judge_has_nothing_to_check(checkout):
    a_suite(checkout)
    said = evals(checkout, "judge", "tiny.yaml")

    assert said.code == 2
    assert "suite tiny asks no judge: write `judge: v1` into it" in said.err
