"""Which recorded requests can be asked again, who asks them, and what that takes."""

from datetime import date

import pytest

from evals.analysis.drift_session import SHARED, of_recording, population, price_of
from evals.cassettes.cassette_files import merge_write
from evals.cassettes.cassette_schema import Usage
from evals.errors import CannotJudgeError
from evals.models.trace import Call, Decision, GraphNames, PointAnswer, Provenance, Trace, Visit
from evals.prices import ModelPrice, PriceTable
from evals.workspace import Workspace
from tests.builders.interaction import a_chat_request, an_interaction

FORM = {
    "type": "json_schema",
    "json_schema": {"name": "CriticOutput", "schema": {"properties": {"verdict": {"type": "string"}}}},
}
PRICES = PriceTable(
    as_of=date(2026, 11, 1), models={"small": ModelPrice(usd_per_million_input=1e6, usd_per_million_output=1e6)}
)


def asked(words, agent="critic", **more):
    """A recorded request for a review."""
    return an_interaction(words, agent=agent, request=a_chat_request(words, response_format=FORM), **more)


def a_trace(variant, *served, points=(), label="exact", **more):
    calls = tuple(Call(agent=each.agent, key=each.key, model=each.model) for each in served)
    answers = tuple(PointAnswer(point="p", chosen="critic", routed="critic", keys=(each.key,)) for each in points)
    told = Provenance(label=label)
    return Trace(case_id="one", variant=variant, sample=0, provenance=told, calls=calls, points=answers, **more)


@pytest.fixture
def workspace(tmp_path):
    for folder in ("datasets", "cassettes"):
        (tmp_path / folder).mkdir()
    return Workspace.at(tmp_path)


def found(workspace, traces, *interactions):
    merge_write(workspace.cassette("one"), interactions)
    return population(traces, workspace)


def test_what_several_variants_ask_is_no_ones_own(workspace):
    both, mine = asked("Why?"), asked("How?")
    traces = [a_trace("v1", both, mine), a_trace("v2", both)]

    strata = {each.key: each.stratum for each in found(workspace, traces, both, mine).requests}

    assert strata == {both.key: ("critic", SHARED), mine.key: ("critic", "v1")}


def test_prose_and_web_searches_are_left_out(workspace):
    review, comment, search = asked("Why?"), an_interaction("Write.", agent="writer"), asked("q", model="")

    all_of_it = found(workspace, [a_trace("v1", review, comment, search)], review, comment, search)

    assert [each.key for each in all_of_it.requests] == [review.key]
    assert [each.key for each in all_of_it.prose] == [comment.key]


def test_what_the_tape_answers_twice_is_asked_once_all_else_twice(workspace):
    once, twice = asked("Why?"), asked("How?")
    more = asked("Why?", sample=1, answer="Another.")

    times = {
        each.key: each.times for each in found(workspace, [a_trace("v1", once, twice)], once, more, twice).requests
    }

    assert times == {once.key: 1, twice.key: 2}


def test_only_decisions_of_the_trial_itself_are_on_its_way(workspace):
    first, second, frozen = (asked(words, agent="supervisor") for words in ("1", "2", "3"))
    trace = a_trace("v1", first, asked("a review"), second, points=[frozen])

    steps = {each.key: each.uses[0].step for each in found(workspace, [trace], first, second, frozen).requests}

    assert steps == {first.key: 1, second.key: 2, frozen.key: 0}


def test_the_decisions_of_a_targets_router_are_steps_on_its_way(workspace):
    first, work, second = asked("1", agent="desk"), asked("2", agent="clerk"), asked("3", agent="desk")
    visits = [Visit(node=node, superstep=place) for place, node in enumerate(("desk", "clerk", "desk"))]
    decisions = [
        Decision(index=number, iteration=place, chosen=to, routed=to)
        for number, (place, to) in enumerate([(0, "clerk"), (2, "end")])
    ]
    trace = a_trace("v1", first, work, second, visits=visits, decisions=decisions, names=GraphNames())

    steps = {each.key: each.uses[0].step for each in found(workspace, [trace], first, work, second).requests}

    assert steps == {first.key: 1, work.key: 0, second.key: 2}


def test_a_trial_that_failed_is_said_and_nothing_is_drawn(workspace):
    with pytest.raises(CannotJudgeError, match="one under v1 cannot be replayed: the tape is torn"):
        found(workspace, [a_trace("v1", label="failed", error="the tape is torn")], asked("Why?"))


def test_the_price_is_that_of_the_same_requests_when_they_were_recorded(workspace):
    """Eleven tokens in and five out per answer, at a dollar each."""
    review, comment = asked("Why?"), an_interaction("Write.", agent="writer", usage=Usage(prompt_tokens=100))
    all_of_it = found(workspace, [a_trace("v1", review, comment)], review, comment)

    assert price_of({all_of_it.requests[0]: 2}, PRICES).usd == 32
    assert of_recording(all_of_it, 1, PRICES).usd == 116
