"""Recorded requests asked again, whole: over loopback, by rounds, interrupted and gone on with; no cassette changes."""

import json

import pytest
from jsonschema import Draft202012Validator

from evals.cli.report_commands import schema_of
from evals.models.analysis_results import Drift
from tests.builders.batch import ASKING_A_SERVER, a_command, an_answer, answers, requests_in
from tests.builders.checkout import REPOSITORY, a_checkout, cassettes, evals
from tests.builders.command import command
from tests.builders.drifting import a_tape_of, saying
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

WIDE = ("--set", "precision=0.3")  # the tiny suite has two dozen decisions
EVERYTHING = ("--sample", "1000")
PRICES = "as_of: 2026-11-01\nmodels: {m: {usd_per_million_input: 1.0, usd_per_million_output: 1.0}}\n"


def drift(checkout, *words):
    return evals(checkout, "drift", "tiny.yaml", *WIDE, *words)


def result(checkout, number=1):
    path = checkout / "reports" / "drift" / "tiny" / f"sitting-{number:03}" / "drift.json"
    return Drift.model_validate_json(path.read_text(encoding="utf-8"))


def test_an_endpoint_that_says_the_same_is_representative_and_the_tape_is_not_touched(checkout):
    before = cassettes(checkout)
    with an_llm_server() as llm:
        said = drift(checkout, *EVERYTHING, "--base-url", llm.base_url)

    assert said.code == 0, said
    assert "representative: " in said.out
    assert "To be asked: " in said.err
    assert len(llm.asked) == result(checkout).asked.answers
    assert "writer-comment" not in llm.asked  # prose: nothing of it is compared
    assert cassettes(checkout) == before


def test_an_endpoint_that_decides_otherwise_is_drifted_and_its_cases_are_named(checkout):
    with an_llm_server(answering(decide=lambda _: "human_input")) as llm:
        said = drift(checkout, *EVERYTHING, "--base-url", llm.base_url)

    found = result(checkout)
    assert said.code == 1, said
    assert found.turned_cases == ("wrong-sum", "wrong-total")
    assert "wrong-sum" in said.out
    assert found.fields[0].equal.value == 0


def test_another_category_is_drift_of_that_field_only(checkout):
    """Two answers each: seven requests by the writer would be the fewest that count, so the p is looked at."""
    with an_llm_server(answering(writer={**a_report(), "category": "feature"})) as llm:
        drift(checkout, *EVERYTHING, "--base-url", llm.base_url)

    apart = {field.field for field in result(checkout).fields if field.equal is not None and field.equal.value < 1}
    assert apart == {"category"}


def a_report():
    from tests.builders.endpoint import WORKER_REPLIES

    return WORKER_REPLIES["writer"]


def test_a_limit_ends_it_and_the_same_command_goes_on(checkout):
    with an_llm_server() as llm:
        first = drift(checkout, "--base-url", llm.base_url, "--max-requests", "5", "--sample", "9")
        second = drift(checkout, "--base-url", llm.base_url, "--sample", "9")

    assert (first.code, "--max-requests 5 is reached" in first.err) == (3, True)
    assert second.code in (0, 3)
    assert len(llm.asked) == result(checkout).asked.answers


def test_a_finished_sitting_is_gone_on_with_only_where_that_is_asked_for(checkout):
    with an_llm_server() as llm:
        drift(checkout, "--base-url", llm.base_url, "--sample", "9")
        once = len(llm.asked)
        drift(checkout, "--base-url", llm.base_url, "--sample", "12", "--extend")
        extended = len(llm.asked)
        drift(checkout, "--base-url", llm.base_url, "--sample", "9")

    assert extended == result(checkout, 1).asked.answers
    assert len(llm.asked) == extended + once
    assert result(checkout, 2).asked.requests == 9


def test_the_price_is_said_before_anything_is_asked(checkout):
    (checkout / "prices.yaml").write_text(PRICES, encoding="utf-8")
    said = drift(checkout, "--dry-run", "--prices", "prices.yaml")

    assert said.code == 0, said
    assert "USD by the price table of 2026-11-01" in said.err
    assert not (checkout / "reports" / "drift").exists()


def test_a_budget_is_kept_and_needs_a_price(checkout):
    (checkout / "prices.yaml").write_text(PRICES, encoding="utf-8")
    with an_llm_server() as llm:
        unpriced = drift(checkout, "--base-url", llm.base_url, "--budget", "1")
        spent = drift(checkout, "--base-url", llm.base_url, "--budget", "0.000001", "--prices", "prices.yaml")

    assert (unpriced.code, "--budget: no price is known for m" in unpriced.err) == (2, True)
    assert (spent.code, "the budget of" in spent.err) == (3, True)
    assert llm.asked == []


def test_json_is_all_that_is_printed_and_is_as_its_schema_says(checkout):
    with an_llm_server() as llm:
        said = drift(checkout, "--base-url", llm.base_url, "--json", "--sample", "12")

    Draft202012Validator(schema_of(Drift)).validate(json.loads(said.out))
    assert Drift.model_validate_json(said.out) == result(checkout)


def test_rounds_that_a_command_answers_come_to_the_same(checkout, tmp_path):
    with an_llm_server() as llm:
        live = drift(checkout, *EVERYTHING, "--base-url", llm.base_url)
        asking = a_command(tmp_path / "answering", ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        said = drift(checkout, *EVERYTHING, "--export", "rounds", "--answer-with", asking)

    assert (said.code, live.code) == (0, 0), said
    assert result(checkout, 2).fields == result(checkout, 1).fields


def test_the_rounds_of_a_finished_sitting_answer_no_later_one(checkout, tmp_path):
    with an_llm_server() as llm:
        asking = a_command(tmp_path / "answering", ASKING_A_SERVER, llm.base_url.removesuffix("/v1"))
        for _ in range(2):
            drift(checkout, "--sample", "9", "--export", "rounds", "--answer-with", asking)

    assert len(llm.asked) == 2 * result(checkout, 2).asked.answers


def test_rounds_by_hand_wait_until_every_answer_is_there(checkout):
    out = drift(checkout, "--sample", "9", "--export", "rounds")
    asked = requests_in(checkout / "rounds" / "sitting-001" / "round-001")
    some = answers(checkout / "some.jsonl", map(an_answer, asked[:4]))
    half = drift(checkout, "--sample", "9", "--import", some.name)
    rest = answers(checkout / "rest.jsonl", map(an_answer, asked[4:]))
    whole = drift(checkout, "--sample", "9", "--import", rest.name)

    assert (out.code, half.code) == (3, 3)
    assert f"4 of {len(asked)} answers are there" in half.err
    assert whole.code in (0, 3)
    assert result(checkout).asked.answers == len(asked)


def test_an_answer_that_breaks_its_schema_is_compared_and_not_asked_again(checkout):
    broken = answering(critic={"verdict": "MAYBE"})
    drift(checkout, *EVERYTHING, "--export", "rounds")
    asked = requests_in(checkout / "rounds" / "sitting-001" / "round-001")
    back = answers(checkout / "back.jsonl", (an_answer(each, broken) for each in asked))
    drift(checkout, *EVERYTHING, "--import", back.name)

    fields = {(field.agent, field.field): field for field in result(checkout).fields}
    assert fields["critic", "schema"].equal.value == 0
    assert fields["writer", "schema"].equal.value == 1


def test_the_cassettes_are_no_place_for_a_sitting(checkout):
    said = drift(checkout, "--out", "cassettes/drift", "--dry-run")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "name a folder elsewhere" in said.err


def test_a_suite_with_nothing_on_tape_is_one_line(tmp_path):
    said = evals(a_checkout(tmp_path), "drift", "tiny.yaml", "--dry-run")

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "record the suite first" in said.err


CASES = (
    "coldshelf-erased-members",
    "ledgerline-heating-shares",
    "quillmark-market-days",
    "stockroom-foreign-item",
    "tallyflow-gas-day",
    "taskmill-export-key",
)


@pytest.mark.parametrize("seed", [1, 2] if every() else [1])
@pytest.mark.parametrize(
    ("otherwise", "noise", "codes"), [(0.0, 0.0, {0}), (0.3, 0.0, {1}), *([(0.15, 0.03, {1, 3})] if every() else [])]
)
def test_planted_drift_of_the_shipped_tape_is_found_over_loopback(tmp_path, seed, otherwise, noise, codes):
    tape = a_tape_of(REPOSITORY / "cassettes", CASES)
    before = cassettes(REPOSITORY)
    chosen = [word for case in CASES for word in ("--case", case)]
    with an_llm_server(saying(tape, otherwise=otherwise, noise=noise)) as llm:
        said = command(
            "drift",
            "prompts",
            *chosen,
            "--base-url",
            llm.base_url,
            "--set",
            f"seed={seed}",
            "--out",
            tmp_path,
            *("--jobs", 1),
        )

    found = Drift.model_validate_json((tmp_path / "sitting-001" / "drift.json").read_text(encoding="utf-8"))
    assert said.code in codes, said
    assert found.fields[0].change.low <= otherwise <= found.fields[0].change.high
    assert cassettes(REPOSITORY) == before
