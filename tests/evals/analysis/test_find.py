"""Who is wrong, the label or the answer?"""

import pytest

from evals.analysis.label_disputes import Disputes, disputes
from evals.errors import ConfigurationError
from evals.models.run import PointInfo, Trial
from tests.builders.dispute import a_disputed_run, an_answer_to
from tests.builders.run import a_trial
from tests.builders.trace import a_trace, an_answer

POINT = PointInfo(id="p1", accept={"writer": 1.0, "critic": 0.5}, why="One finding is enough.")


def found_in(*trials: Trial, **fields) -> Disputes:
    """The lists of one run."""
    return disputes([a_disputed_run(*trials, **fields)])


def choices(*chosen: str | None) -> Disputes:
    """All lists of a run whose variants chose so in one frozen state."""
    answers = [an_answer_to("a", f"v{n}", points=(an_answer(chosen=node),)) for n, node in enumerate(chosen)]
    return found_in(*answers, points=(POINT,))


def test_a_label_is_suspect_where_all_are_right_and_break_the_same_rule():
    found = found_in(an_answer_to("a", "v2", "P2b", "P3"), an_answer_to("a", "v3", "P2b"))

    assert [(item.case, [rule.id for rule in item.rules]) for item in found.labels] == [("a", ["P2b"])]


@pytest.mark.parametrize(
    "other",
    [
        an_answer_to("a", "v3", "P3"),
        an_answer_to("a", "v3"),
        an_answer_to("a", "v3", "P2b", right=False),
        an_answer_to("a", "v3", "P2b", category=0.0),
    ],
    ids=["another rule", "a pass", "a wrong root cause", "a wrong category"],
)
def test_one_variant_that_does_not_fit_clears_the_label(other):
    assert found_in(an_answer_to("a", "v2", "P2b"), other).labels == ()


def test_a_variant_that_left_the_tape_neither_accuses_nor_clears():
    off = a_trial(a_trace(case_id="a", variant="v3", provenance="frontier", frontier=1), {})

    assert [len(item.answers) for item in found_in(an_answer_to("a", "v2", "P2b"), off).labels] == [1]


def test_the_label_that_a_rule_alone_offends_most_often_comes_first():
    weak, strong = an_answer_to("a", "v2", "P2b"), an_answer_to("b", "v2", "P3", decides=["P3"])

    assert [item.case for item in found_in(weak, strong).labels] == ["b", "a"]


def test_a_route_is_too_lax_where_it_passes_a_wrong_outcome():
    found = found_in(an_answer_to("a", "v2", right=False), an_answer_to("a", "v3"))

    assert [(item.case, [(a.who, a.wrong) for a in item.answers]) for item in found.lax] == [
        ("a", [("v2", ("root cause",))])
    ]


def test_rules_are_ranked_by_the_verdicts_they_decide_alone():
    found = found_in(
        an_answer_to("a", "v2", "P3", decides=["P3"]),
        an_answer_to("b", "v2", "P2b", decides=["P2b"]),
        an_answer_to("b", "v3", "P2b", decides=["P2b"]),
        an_answer_to("a", "v3", "P4", "P2b"),
    )

    assert [(item.rule.id, item.rule.alone, item.broken, item.cases) for item in found.rules] == [
        ("P2b", 2, 3, ("b",)),
        ("P3", 1, 1, ("a",)),
    ]


def test_a_frozen_state_is_disputed_where_all_choose_what_the_label_does_not_accept():
    (point,) = choices("codebase_search", "codebase_search").points

    assert (point.point, point.chosen, point.grade, point.why) == ("p1", "codebase_search", 0, POINT.why)


def test_what_the_label_calls_defensible_comes_after_what_it_refuses():
    worse, better = (
        an_answer_to(case, points=(an_answer(chosen=node),)) for case, node in (("b", "end"), ("a", "critic"))
    )
    found = found_in(better, worse, points=(POINT,))

    assert [point.grade for point in found.points] == [0, 0.5]


@pytest.mark.parametrize("chosen", [("writer", "writer"), ("critic", "writer"), ("critic", "end"), (None, None)])
def test_a_frozen_state_is_not_disputed_unless_all_agree_against_the_label(chosen):
    assert choices(*chosen).points == ()


def test_a_held_out_case_is_neither_shown_nor_counted():
    guilty = an_answer_to("a", "v2", "P2b", decides=["P2b"], points=(an_answer(chosen="end"),))
    found = found_in(guilty, an_answer_to("b", "v2"), held_out=["a"], points=(POINT,))

    assert (found.cases, found.trials) == (1, 1)
    assert {found.labels, found.lax, found.rules, found.points} == {()}


def test_runs_are_pooled_by_suite_variant_and_model():
    runs = [a_disputed_run(an_answer_to("a", "v2", "P2b")) for _ in range(2)]

    assert disputes(runs).who == ("prompts/v2 (a-model)", "prompts/v2 (a-model) in run 2")


def test_runs_that_differ_in_a_label_are_not_pooled():
    runs = [a_disputed_run(an_answer_to("a", "v2"), root_cause=cause) for cause in ("One.", "Another.")]

    with pytest.raises(ConfigurationError, match=r"^a: labelled otherwise in suite prompts"):
        disputes(runs)
