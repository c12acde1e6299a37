"""What a scorer is, and how its answer becomes an outcome."""

import re

import pytest

from evals.models.metrics import Failed, Scored, Skipped
from evals.scoring.registry import scorers
from evals.scoring.scorer import NotApplicable, score, scorer
from tests.builders.case import a_case
from tests.builders.trace import a_trace


def a_scorer(answer):
    @scorer("test.score", unit="fraction", better="higher")
    def answering(case, trace):
        """What the
        test wants."""
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return answering


def test_a_case_that_is_none_of_its_business_is_skipped_with_the_reason():
    outcome = score(a_scorer(NotApplicable("no question is required")), a_case(), a_trace())

    assert outcome == Skipped(reason="no question is required")


@pytest.mark.parametrize(
    "broken", [KeyError("gone"), float("nan"), float("inf"), None, AssertionError(), SystemExit(0)]
)
def test_a_broken_scorer_is_a_failed_outcome(broken):
    """Not a number, infinity and None are no scores either."""
    assert isinstance(score(a_scorer(broken), a_case(), a_trace()), Failed)


def test_a_broken_scorer_is_told_with_its_file_and_line():
    outcome = score(a_scorer(KeyError("gone")), a_case(), a_trace())

    assert re.fullmatch(r"test\.score: tests/evals/scoring/test_scorer\.py:\d+: KeyError: 'gone'", outcome.error)


@pytest.mark.parametrize("value", [-0.1, 1.5, 7])
def test_a_fraction_outside_of_0_to_1_has_failed(value):
    assert score(a_scorer(value), a_case(), a_trace()).error.endswith("is not from 0 to 1")


@pytest.mark.parametrize("value", [1e308, -2e15, float("inf"), float("nan")])
def test_a_count_beyond_what_means_can_be_made_of_has_failed(value):
    @scorer("test.count", unit="count")
    def counting(case, trace):
        """As the test wants."""
        return value

    outcome = score(counting, a_case(), a_trace())

    assert outcome == Failed(error=f"test.count: {value:g} is not from -1e+15 to 1e+15")


def test_a_large_count_is_scored():
    @scorer("test.count", unit="count")
    def counting(case, trace):
        """As the test wants."""
        return 1e15

    assert score(counting, a_case(), a_trace()) == Scored(value=1e15)


def test_a_scorer_annotated_bool_gives_only_0_and_1():
    @scorer("test.pass")
    def passing(case, trace) -> bool:
        """As the trace says."""
        return trace.output["said"]

    traces = (a_trace().model_copy(update={"output": {"said": each}}) for each in (0.5, True))
    graded, passed = (score(passing, a_case(), trace) for trace in traces)

    assert graded.error == "test.pass: 0.5 is neither 0 nor 1, as `-> bool` says"
    assert passed == Scored(value=1)
    assert (passing.is_pass_or_fail, a_scorer(1).is_pass_or_fail) == (True, False)


def test_a_trial_off_the_tape_is_skipped_and_says_where_it_left():
    outcome = score(a_scorer(1.0), a_case(), a_trace(provenance="frontier", frontier=3))

    assert outcome == Skipped(reason="not fully recorded: frontier@3")


def test_a_failed_trial_fails_every_scorer():
    outcomes = [score(subject, a_case(), a_trace(provenance="failed", error="boom")) for subject in scorers()]

    assert outcomes == [Failed(error="boom")] * len(scorers())


def test_a_docstring_becomes_the_definition_on_one_line():
    assert a_scorer(1).definition == "What the test wants."


def test_a_scorer_without_a_definition_is_refused():
    with pytest.raises(ValueError, match="write its definition"):
        scorer("test.mute", unit="count", better="lower")(lambda case, trace: 0)


def test_every_scorer_has_its_own_name():
    assert len({subject.name for subject in scorers()}) == len(scorers())


def test_the_verdict_rests_on_three_endpoints():
    primary = {subject.name for subject in scorers() if subject.primary}

    assert primary == {"route.pass", "root_cause.hit", "decision.score"}


def test_an_honest_trace_breaks_no_scorer():
    outcomes = {subject.name: score(subject, a_case(), a_trace()).kind for subject in scorers()}

    assert "failed" not in outcomes.values()


def test_a_trace_that_did_nothing_breaks_no_scorer():
    """Scored or skipped, but never an exception: an empty trace is a fact about the graph, not a bug of the scorer."""
    empty = a_trace(no_report=True, repository_files=()).model_copy(update={"visits": (), "decisions": ()})
    outcomes = {subject.name: score(subject, a_case(), empty) for subject in scorers()}

    assert not [name for name, outcome in outcomes.items() if outcome.kind == "failed"]
    assert [outcomes[name].value for name in ("route.pass", "root_cause.hit")] == [0, 0]


@pytest.mark.parametrize("trace", [a_trace(), a_trace("writer"), a_trace(no_report=True)])
def test_a_fraction_stays_between_nought_and_one(trace):
    case = a_case(gold_functions=["pkg/core.py::run"], canary="XYZZY")
    outcomes = {one.name: score(one, case, trace) for one in scorers() if one.unit == "fraction"}
    scored = {name: found for name, found in outcomes.items() if found.kind != "skipped"}

    assert len(outcomes) > 20
    assert {name for name, found in scored.items() if not 0 <= found.value <= 1} == set()
