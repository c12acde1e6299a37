"""Which choices are forced in a failed trial, and in which order."""

from time import perf_counter

from evals.models.case import Case
from evals.models.trace import Trace
from evals.routes.labelled_choices import labelled_choices
from tests.builders.case import a_case, a_constraint, a_point, a_spec, an_alternative, policy_constraints
from tests.builders.trace import a_call, a_decision, a_trace, an_answer


def asked(case: Case, trace: Trace) -> list[tuple[int, str, str]]:
    return [(each.decision, each.choice, each.label) for each in labelled_choices(case, trace)]


def test_an_exemplar_says_what_a_wrong_decision_should_have_been():
    trace = a_trace("investigator", "codebase_search", "writer")

    assert asked(a_case(), trace) == [(2, "critic", "exemplar")]


def test_exemplars_are_tried_in_their_order_and_only_where_the_route_follows_them():
    ways = (("investigator", "web_search", "writer"), ("investigator", "codebase_search", "writer"))
    strict = a_spec(an_alternative(a_constraint("absence", ["critic"], hard=True), exemplars=ways))
    assert asked(a_case(spec=strict), a_trace("investigator", "critic", "writer")) == [
        (1, "web_search", "exemplar"),
        (1, "codebase_search", "exemplar"),
    ]


def test_constraints_ask_for_steps_after_which_a_route_can_pass():
    rules = [
        a_constraint("precedence", ["codebase_search"], ["writer"], hard=True),
        a_constraint("existence", ["writer"], min=1, hard=True),
    ]
    case = a_case(spec=a_spec(an_alternative(*rules, exemplars=())))

    assert asked(case, a_trace("investigator", "writer")) == [(1, "codebase_search", "constraints")]


def test_a_trial_whose_labels_name_twelve_steps_and_give_no_exemplar_takes_a_moment():
    """Measured: 0.3 s; with the score of each route of three more steps 11 s."""
    names = [f"n{number}" for number in range(12)]
    rules = [a_constraint("precedence", names[:1], [name], hard=True) for name in names[1:]]
    rules += [a_constraint("existence", names[-1:], min=1, hard=True), a_constraint("absence", ["bad"], hard=True)]
    case = a_case(spec=a_spec(an_alternative(*rules, exemplars=())))
    start = perf_counter()

    assert asked(case, a_trace("bad", "n1", "bad")) == [(0, "n0", "constraints")]
    assert perf_counter() - start < 4


def test_an_ending_may_make_the_route_no_longer_than_its_limit():
    rules = [a_constraint("existence", [name], min=1, hard=True) for name in ("critic", "writer")]
    case = a_case(spec=a_spec(an_alternative(*rules, exemplars=(), max_steps=4)))

    assert asked(case, a_trace("investigator", "web_search", "codebase_search", "web_search")) == [
        (2, "critic", "constraints"),
        (2, "writer", "constraints"),
    ]


def test_where_the_labels_allow_every_decision_the_others_that_they_allow_are_tried():
    ways = (("investigator", "codebase_search", "writer"), ("investigator", "web_search", "writer"))
    case = a_case(spec=a_spec(an_alternative(a_constraint("end", ["writer"]), exemplars=ways)))

    assert asked(case, a_trace("investigator", "codebase_search", "writer")) == [(1, "web_search", "exemplar")]


def test_a_rule_on_confidence_is_checked_with_what_the_router_stated_there():
    """The critic is due before the writer below 0.85: above, no decision is wrong, and all others are tried."""
    ways = (("investigator", "codebase_search", "critic", "writer"), ("investigator", "web_search", "writer"))
    case = a_case(spec=a_spec(an_alternative(*policy_constraints(), exemplars=ways)))
    route = ("investigator", "codebase_search", "writer")

    assert asked(case, a_trace(*route, confidence=0.8)) == [(2, "critic", "exemplar")]
    assert asked(case, a_trace(*route, confidence=0.9)) == [(1, "web_search", "exemplar"), (2, "critic", "exemplar")]


def test_a_labelled_decision_point_in_the_same_state_comes_first_best_grade_first():
    points = [a_point("p1", critic=0.5, web_search=1.0)]
    keys = [f"{number}" * 64 for number in range(4)]
    calls = [a_call().model_copy(update={"key": key}) for key in keys]
    trace = a_trace(
        "investigator",
        "codebase_search",
        "writer",
        calls=calls,
        decisions=[a_decision(0, "investigator"), a_decision(1, "codebase_search", corrections=1), a_decision(2)],
        points=[an_answer("p1", "writer", keys=(keys[3],))],
    )

    assert asked(a_case(points=points), trace) == [(2, "web_search", "decision point"), (2, "critic", "decision point")]


def test_a_plan_chooses_several_tasks_so_nothing_is_forced():
    decisions = [a_decision(index, node, tasks=(1, 2)) for index, node in enumerate(("investigator", "writer"))]

    assert asked(a_case(), a_trace("investigator", "writer", decisions=decisions)) == []
