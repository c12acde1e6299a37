"""Every supervisor is run by the same door: its trial has decisions, visits and what it was shown."""

import pytest

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.player import Tape
from evals.models.suite import Models, Variant
from evals.models.trace import Trace
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial
from evals.triage.trial_clients import Clients
from tests.builders.case import a_case, a_point
from tests.builders.endpoint import Endpoint, a_team, some_clients
from tests.builders.interaction import a_cassette
from tests.builders.repository import HashEmbedder, an_index

MODELS = Models(default="a-model", fallback="a-model")
REPLY = {"reasoning": "It is next.", "input_check": "all there"}
WEAK_FILTER = {"min_score": 0.0, "low_confidence": 0.75}


async def a_trial(tmp_path, team: Endpoint, case=None, **fields) -> Trace:
    doors = some_clients(team)
    subject = CaseTarget.of(
        Variant(name="v", models=MODELS, **fields),
        Clients(doors.openai, doors.openai_async, doors.tavily_async),
        IndexedCode(an_index(tmp_path), HashEmbedder()),  # type: ignore[arg-type]  # never asked to save vectors
    )
    return await run_trial(subject, case or a_case(), Tape(a_cassette(), Ledger(), 0))


async def test_the_rules_need_no_supervisor_model(tmp_path):
    trace = await a_trial(tmp_path, team := a_team(), supervisor="rules", rules=WEAK_FILTER)

    assert trace.provenance.label == "exact"
    assert trace.route[:3] == ("investigator", "codebase_search", "critic")
    assert team.count("supervisor") == 0
    assert "Citation issue" in trace.decisions[0].context
    assert trace.decisions[0].reasoning.startswith("first_run, nothing known")


async def test_the_rules_answer_decision_points(tmp_path):
    case = a_case(decision_points=[a_point()])
    trace = await a_trial(tmp_path, a_team(), case, supervisor="rules", rules=WEAK_FILTER)

    assert [point.chosen is not None for point in trace.points] == [True]
    assert trace.point_misses == ()


async def test_the_registry_shows_what_it_was_told(tmp_path):
    team = a_team(supervisor=[{**REPLY, "next_agent": name} for name in ("investigator", "writer")])
    trace = await a_trial(tmp_path, team, supervisor="registry", prompt="v4")

    assert trace.route == ("investigator", "writer")
    assert 'Available data: ["issue", "hypothesis"' in trace.decisions[1].context
    assert trace.decisions[0].error is None


@pytest.mark.parametrize(("guards", "route"), [("none", ()), ("hardened", ("investigator", "writer"))])
async def test_a_reply_that_cannot_be_used_shows_in_the_trial_whatever_the_guards_make_of_it(tmp_path, guards, route):
    """Never a silent success: also where a guard still has a report written, the decision says that it failed."""
    team = a_team(supervisor=["I would rather not say."])
    trace = await a_trial(tmp_path, team, supervisor="registry", prompt="v4", guards=guards)

    assert trace.route == route
    assert (trace.decisions[0].chosen, trace.decisions[0].error) == ("end", "the reply held no JSON object")
    assert trace.decisions[0].forced_fallback
