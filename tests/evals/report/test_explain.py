"""One trial up close: what was known, chosen and found at each step, and where it leaves the nearest correct route."""

import pytest

from evals.models.metrics import Scored
from evals.models.run import PointInfo
from evals.models.trace import Miss, Visit
from evals.report.view.trial_explanation import explanation, wanted
from tests.builders.run import a_case_info, a_trial
from tests.builders.trace import a_decision, a_trace, an_answer, an_exchange, an_override

FOUND = {"agent_name": "investigator", "summary": "A race.", "confidence": 0.6, "details": ""}


def explained(trace=None, case=None, **fields):
    return explanation(a_trial(trace or a_trace(), **fields), case or a_case_info())


def line(told, step: int, what: str) -> str:
    return next(text for kind, text in told.steps[step].lines if kind == what)


def a_walk(*visits, **fields):
    return a_trace(visits=tuple(Visit.model_validate(visit) for visit in visits), **fields)


def test_a_step_knows_what_was_found_before_it():
    first = {"node": "investigator", "superstep": 0, "findings": [FOUND]}
    told = explained(a_walk(first, {"node": "codebase_search", "superstep": 1}))

    assert line(told, 0, "knew") == "nothing but the issue"
    assert line(told, 0, "found") == "investigator: A race. (60 %)"
    assert line(told, 1, "knew") == "investigator 60 %"


def test_a_guard_that_overruled_says_so():
    trace = a_trace("investigator", decisions=(a_decision(0, "writer", "investigator", overrides=[an_override()]),))

    assert line(explained(trace), 0, "override") == "investigator_first sends it to investigator, not writer"


def test_a_question_stands_with_what_the_user_said():
    trace = a_trace("investigator", "human_input", exchanges=(an_exchange("Which version?", "3.11"),))

    assert (line(explained(trace), 1, "asked"), line(explained(trace), 1, "heard")) == ("Which version?", "3.11")


def test_a_visit_that_failed_says_why():
    told = explained(a_walk({"node": "investigator", "superstep": 0, "error": "no answer"}))

    assert line(told, 0, "found") == "investigator failed: no answer"


@pytest.mark.parametrize(
    ("route", "leaves", "wrong"),
    [
        (("investigator", "web_search", "writer"), 1, ["", "codebase_search", ""]),
        (("investigator", "codebase_search", "critic", "writer", "critic"), 4, ["", "", "", "", "the end"]),
    ],
    ids=["elsewhere", "too far"],
)
def test_the_step_that_leaves_the_labels_way_names_what_that_goes_on_to(route, leaves, wrong):
    told = explained(a_trace(*route), first_divergence=leaves)

    assert [step.wrong.rpartition("goes on to ")[2] for step in told.steps] == wrong


def test_a_route_that_ends_too_early_is_wrong_at_its_end():
    decisions = (a_decision(0, "investigator"), a_decision(1, "end"))
    told = explained(a_trace("investigator", decisions=decisions), first_divergence=1)

    assert [step.wrong != "" for step in told.steps] == [False, True]


def test_visits_side_by_side_are_one_step():
    trace = a_trace(
        "investigator",
        "codebase_search",
        "web_search",
        supersteps=(0, 1, 1),
        decisions=(a_decision(0, "investigator"), a_decision(1, "codebase_search")),
    )

    assert [step.title for step in explained(trace).steps] == ["1  investigator", "2  codebase_search, web_search"]


def test_a_trial_that_left_the_tape_says_who_asked_what_nobody_recorded():
    miss = Miss(key="k", agent="critic", method="POST", path="/", model="m", decision=2)
    trace = a_trace("investigator", provenance="frontier", frontier=1, misses=(miss,), no_report=True)

    outcome = dict(explained(trace).outcome)

    assert outcome["recorded"] == "frontier@1: what critic asked next is not recorded; nothing after it is known"


def test_the_end_says_what_passed_and_what_was_named():
    outcome = explained(outcomes={"root_cause.hit": Scored(value=0.0)}).outcome

    assert dict(outcome)["metrics"] == "✓ route  ✗ root cause"
    assert ("output", "root_cause_location: pkg/core.py") in outcome


def test_frozen_states_stand_there_where_another_node_than_the_best_was_chosen():
    points = [PointInfo(id=name, accept={"critic": 1.0, "writer": 0.5}, why="A claim is there.") for name in "abc"]
    answers = (an_answer("a", "critic"), an_answer("b", "writer"), an_answer("c", "end"))

    told = explained(a_trace(points=answers), a_case_info(points=points))

    assert [text for kind, text in told.outcome if kind == "state"] == [
        "b: chose writer (worth 50 %), best is critic: A claim is there.",
        "c: chose end (not acceptable), best is critic: A claim is there.",
    ]


def test_a_case_nobody_is_to_blame_for_says_so():
    assert ("gold", "none") in wanted(a_case_info(gold=[]))
