"""Scores of the route."""

from hypothesis import given
from hypothesis import strategies as st

from evals.models.metrics import Scored
from evals.scoring.registry import scorers
from evals.scoring.route_scorers import route_fitness, route_pass, route_score
from evals.scoring.scorer import score
from tests.builders.case import NODES, a_case, a_constraint, a_spec, an_alternative
from tests.builders.trace import HONEST, a_decision, a_trace


def test_the_honest_route_passes():
    assert score(route_pass, a_case(), a_trace()) == Scored(value=1)


def test_the_confidence_before_the_writer_decides_whether_the_critic_was_needed():
    unsure = a_trace("investigator", "codebase_search", "writer", confidence=0.7)
    sure = a_trace("investigator", "codebase_search", "writer", confidence=0.9)

    assert [score(route_pass, a_case(), trace).value for trace in (unsure, sure)] == [0, 1]


def test_a_review_asked_for_while_unsure_is_not_held_against_the_confidence_it_lifted():
    """Nor does one that was not needed fail a route: it costs fitness."""
    needless_review = a_constraint(
        "not_succession", ["critic"], ["writer"], if_={"confidence_before_critic": (">=", 0.85)}
    )
    heavier = a_constraint("end", ["writer"], w=10)
    case = a_case(spec=a_spec(an_alternative(needless_review, heavier)))
    before = [a_decision(i, node, confidence=0.7) for i, node in enumerate(HONEST[:3])]
    lifted = a_trace(decisions=[*before, a_decision(3, "writer", confidence=0.95)])
    needless = a_trace(confidence=0.95)

    assert [lifted.confidence_before(node) for node in ("critic", "writer")] == [0.7, 0.95]
    assert score(route_fitness, case, lifted).value == 1
    assert score(route_fitness, case, needless).value < 1
    assert score(route_pass, case, needless).value == 1


def test_visits_side_by_side_are_not_held_against_the_route():
    crossed = ("investigator", "codebase_search", "writer", "critic")

    assert score(route_pass, a_case(), a_trace(*crossed)).value == 0
    assert score(route_pass, a_case(), a_trace(*crossed, supersteps=[0, 1, 2, 2])).value == 1


@given(
    beside=st.lists(st.sampled_from(NODES), min_size=1, max_size=4).flatmap(
        lambda nodes: st.tuples(st.just(nodes), st.permutations(nodes))
    ),
    after=st.lists(st.sampled_from(NODES), max_size=3),
)
def test_which_of_two_visits_side_by_side_is_listed_first_changes_no_score(beside, after):
    """Of a plan's tasks that ran in one superstep, none was first: every route score, R and pass among them."""
    scores = []
    for nodes in beside:
        steps = [0, *[1] * len(nodes), *range(2, 2 + len(after))]
        trace = a_trace("investigator", *nodes, *after, supersteps=steps, decisions=[])
        scores.append([score(s, a_case(), trace) for s in scorers() if s.name.startswith("route.")])

    assert scores[0] == scores[1]


def test_a_broken_hard_rule_halves_the_score():
    asked = a_trace("investigator", "human_input", "codebase_search", "critic", "writer")

    assert score(route_score, a_case(), asked).value < 0.5
