"""Whatever the workers bring, in whatever guard set: equal states decide equally, and the job comes to its end."""

from hypothesis import HealthCheck, given
from hypothesis import settings as unhurried
from hypothesis import strategies as st

from tests.builders.rules import FILES, some_retries
from tests.builders.state import a_report, a_state
from triage.graph import ruled
from triage.graph_configuration import RulesSettings
from triage.guards.guard_sets import SETS, guard_set
from triage.guards.guards import GuardSet
from triage.state import AgentError, AgentFinding, BugTriageState, CriticVerdict, HumanExchange, Retrieval, Worker
from triage.supervisors.rules.rules_supervisor import decide, update_of

GROWING = ("findings", "visits", "agent_errors", "human_exchanges", "retry_reasons", "decision_events", "vetoes")
LONGEST = 20
"""Visits of the longest job: two rounds, all retries, a question, and every agent failing as often as it may."""

THOROUGH = unhurried(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

confidences = st.floats(0, 1)
details = st.sampled_from(
    [
        *sorted(FILES),
        "shop/cart.py::Cart.add",
        "shop/invented.py::f",
        "not identified",
        "none identified",
        "the cart",
        "",
    ]
)
findings = st.builds(
    AgentFinding,
    agent_name=st.sampled_from(["investigator", "codebase_search", "web_search", "critic"]),
    summary=st.just("s"),
    confidence=confidences,
    details=details,
    relevant_files=st.lists(details, max_size=2).map(tuple),
)
verdicts = st.builds(
    CriticVerdict,
    verdict=st.sampled_from(["APPROVED", "REJECTED"]),
    review=st.sampled_from(["CONFIRMED", "UNCERTAIN", "CHALLENGED", None]),
    confidence=confidences,
    required_evidence=st.lists(st.just("the line"), max_size=1).map(tuple),
    evidence_seen=st.integers(0, 6),
)
retrievals = st.builds(Retrieval, searched=st.integers(0, 3), kept=st.integers(0, 3))
states = st.builds(
    lambda found, retries, asked, verdict, retrieval: a_state(
        findings=found,
        visits=[finding.agent_name for finding in found],
        iterations=len(found),
        retry_reasons=some_retries(retries),
        human_exchanges=[HumanExchange(question="Which?", answer="That one.")] * asked,
        critic_feedback=verdict,
        retrieval=retrieval,
    ),
    st.lists(findings, max_size=5),
    st.integers(0, 3),
    st.integers(0, 1),
    st.none() | verdicts,
    st.none() | retrievals,
)
rules_settings = st.builds(
    RulesSettings,
    low_confidence=st.sampled_from([0.65, 0.9, 1.0]),
    max_retries=st.sampled_from([None, 0, 1, 2]),
    review_below=confidences,
)


def the_update(state: BugTriageState, chosen: RulesSettings):
    return update_of(state, *decide(state, FILES, chosen), chosen)


@THOROUGH
@given(states, rules_settings)
def test_equal_states_give_equal_decisions(state, chosen):
    """The copy went through a checkpoint's worth of JSON: nothing but values may count."""
    copy = BugTriageState.model_validate_json(state.model_dump_json())

    assert the_update(copy, chosen) == the_update(state, chosen) == the_update(state, chosen)


@THOROUGH
@given(states, rules_settings)
def test_a_decision_leaves_the_state_alone(state, chosen):
    before = state.model_dump_json()
    the_update(state, chosen)

    assert state.model_dump_json() == before


@THOROUGH
@given(states, rules_settings)
def test_every_decision_leaves_one_event(state, chosen):
    update = the_update(state, chosen)
    event = update["decision_events"][0]

    assert len(update["decision_events"]) == 1
    assert (event.decision == "retry") == bool(update["retry_reasons"])
    assert (event.decision == "HITL_triggered") == (update["next_node"] == "human_input")


@unhurried(THOROUGH, max_examples=150)
@given(st.data(), st.sampled_from(sorted(set(SETS) - {"prd"})), rules_settings)
def test_the_job_ends_whatever_the_workers_bring(data, name, chosen):
    """The budget is out of reach: the rules end the job. (Under `prd` nothing ends one whose writer keeps failing.)"""
    state, guards = a_state(max_iterations=10 * LONGEST), guard_set(name)
    while not is_over(state, guards) and len(state.visits) <= LONGEST:
        state = applied(state, ruled(state, the_update(state, chosen), guards))
        if state.routed_node != "end":
            state = applied(state, visited(data, state, state.routed_node))

    assert is_over(state, guards)
    assert len(state.human_exchanges) <= 1
    assert len(state.retry_reasons) <= chosen.retries


@unhurried(THOROUGH, max_examples=100)
@given(st.data(), st.integers(1, 10), rules_settings)
def test_under_the_default_guards_the_job_ends_within_its_budget(data, budget, chosen):
    state = a_state(max_iterations=budget)
    guards = guard_set("hardened")
    while not is_over(state, guards):
        state = applied(state, ruled(state, the_update(state, chosen), guards))
        state = applied(state, visited(data, state, state.routed_node))

    assert len(state.visits) <= budget + 1


def is_over(state: BugTriageState, guards: GuardSet) -> bool:
    """Whether the graph stops here: at `end`, or after the writer where the set says so."""
    return state.routed_node == "end" or (guards.writer_ends and "writer" in state.visits)


def applied(state: BugTriageState, update: dict) -> BugTriageState:
    """The state after the update: growing lists grow, everything else is overwritten."""
    grown = {name: [*getattr(state, name), *update[name]] for name in GROWING if name in update}
    return state.model_copy(update={**update, **grown})


def visited(data: st.DataObject, state: BugTriageState, worker: Worker) -> dict:
    """What a visit leaves behind: a failure, nothing at all, or anything its schema allows."""
    counted = {"visits": [worker], "iterations": state.iterations + 1}
    if worker == "human_input":
        return counted | {"human_exchanges": [HumanExchange(question="Which?", answer="I don't know.")]}
    outcome = data.draw(st.sampled_from(["failed", "nothing", "found", "found"]), label=worker)
    if outcome == "failed":
        return counted | {"agent_errors": [AgentError(agent_name=worker, iteration=state.iterations + 1, error="e")]}
    if outcome == "nothing":
        return counted
    found = data.draw(findings).model_copy(update={"agent_name": worker})
    learned = {"findings": [found]}
    if worker == "critic":
        seen = len(state.findings) + 1 + len(state.human_exchanges)
        learned["critic_feedback"] = data.draw(verdicts).model_copy(update={"evidence_seen": seen})
    if worker == "codebase_search":
        learned["retrieval"] = data.draw(retrievals)
    if worker == "writer":
        learned["report"] = a_report()
    return counted | learned
