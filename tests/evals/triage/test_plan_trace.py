"""Trials under the plan supervisor: recorded from a team in memory, replayed from the tape, and what traces say."""

import asyncio
import json
from types import SimpleNamespace

import httpx
import httpx2
import pytest

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.player import Tape
from evals.cassettes.recorder import RecordingTransport
from evals.models.suite import Models, Variant
from evals.recording.recording_session import prove
from evals.routes.route_check import check
from evals.scoring.cost_scorers import visits as cost_visits
from evals.scoring.route_scorers import route_score_of
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial
from evals.triage.trial_clients import Clients, replay_clients
from tests.builders.case import a_case, a_constraint, a_point, a_spec, an_alternative, case_constraints, reviewed_policy
from tests.builders.interaction import a_recorder
from tests.builders.plan import REJECTED, PlanningTeam, a_choice, can_run
from triage.codebase.embed import MiniLM, VectorCache
from triage.codebase.index import CodebaseIndex
from triage.llm import AGENT_HEADER

INVESTIGATED = a_point(codebase_search=1.0).model_copy(
    update={
        "state": {
            "visits": ["investigator"],
            "iterations": 1,
            "findings": [{"agent_name": "investigator", "summary": "s", "confidence": 0.5, "details": "d"}],
        }
    }
)
LATE_CODE, LATE_WEB = ({name: 0.03} for name in ("codebase_search", "web_search"))


class Late(httpx2.AsyncBaseTransport):
    """A team some of whose agents take their time, in seconds."""

    def __init__(self, team, delays):
        self.team, self.delays = team, delays

    async def handle_async_request(self, request):
        await request.aread()
        await asyncio.sleep(self.delays.get(request.headers[AGENT_HEADER], 0))
        return self.team(request)


def a_variant(supervisor="plan-fixed", plan="fan-out", **fields) -> Variant:
    told = {"name": supervisor, "prompt": "plan-v1", "models": Models(default="m", fallback="m")}
    return Variant.model_validate({**told, "supervisor": supervisor, "plan": plan, **fields})


async def recorded(tmp_path, team=None, delays=None, variant=None, case=None):
    """The trace of a recorded trial, and the answers it took."""
    nothing = httpx.MockTransport(lambda _: httpx.Response(200, json={"query": "", "results": []}))
    sync = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(500)))
    transport = RecordingTransport(a_recorder(), Late(team or PlanningTeam(), delays or {}))
    clients = Clients(sync, httpx2.AsyncClient(transport=transport), httpx.AsyncClient(transport=nothing))
    ledger = Ledger()
    tape = Tape(Cassette(tmp_path / "case.yaml", []), ledger)
    trace = await run_trial(a_subject(variant or a_variant(), clients), case or a_case(), tape)
    await clients.close()
    return trace, list({found.key: found for found in ledger.served}.values())


async def replayed(interactions, variant=None):
    clients = replay_clients()
    tape = Tape(Cassette("case.yaml", interactions), Ledger())
    trace = await run_trial(a_subject(variant or a_variant(), clients), a_case(), tape)
    await clients.close()
    return trace


def a_subject(variant, clients) -> CaseTarget:
    embedder = MiniLM(VectorCache(None))
    return CaseTarget.of(variant, clients, IndexedCode(CodebaseIndex.build(None, embedder), embedder))


async def test_visits_side_by_side_share_their_superstep(tmp_path):
    trace, _ = await recorded(tmp_path)
    first = trace.visits[0].superstep

    assert [(visit.node, visit.superstep - first) for visit in trace.visits] == [
        ("investigator", 0),
        ("critic", 1),
        ("codebase_search", 3),
        ("web_search", 3),
        ("critic", 4),
        ("critic", 4),
        ("writer", 6),
        ("critic", 7),
    ]


async def test_who_answers_first_changes_nothing(tmp_path):
    """Neither visits nor calls; latencies are told of every answer for itself."""
    traces = []
    for number, delays in enumerate((LATE_CODE, LATE_WEB)):
        trace, _ = await recorded(tmp_path / str(number), delays=delays)
        calls = tuple(call.model_copy(update={"latency_ms": 0.0}) for call in trace.calls)
        traces.append(trace.model_copy(update={"calls": calls}))

    assert traces[0] == traces[1]


@pytest.mark.parametrize("supervisor", ["plan-fixed", "plan-hybrid", "plan-llm"])
async def test_a_recorded_trial_replays_to_the_very_same_trace(tmp_path, supervisor):
    """Tools, clock and concurrency included."""
    add = [
        ("add_task", {"objective": "Look.", "capability": "investigator"}),
        ("add_task", {"objective": "Look.", "capability": "web_search"}),
    ]
    team = PlanningTeam(calls=[[("get_current_datetime", {}), *add]])
    variant = a_variant(supervisor, plan=None if supervisor == "plan-llm" else "fan-out")
    trace, interactions = await recorded(tmp_path, team, LATE_WEB, variant)

    case = a_case()

    async def run(variant, tape, clients, halted=lambda: False):
        return await run_trial(a_subject(variant, clients), case, tape, halted)

    runner, cassette = SimpleNamespace(run=run), Cassette("case.yaml", interactions)
    await prove(case, variant, 0, runner, replay_clients(), cassette, trace)

    assert trace.provenance.label == "exact"


async def test_the_route_checker_takes_what_ran_side_by_side_in_any_order(tmp_path):
    """Whichever of two searches ought to come first, it did; in a row, one of the two rules is broken."""
    trace, _ = await recorded(tmp_path)
    both = [
        a_constraint("precedence", ["codebase_search"], ["web_search"], id="code first"),
        a_constraint("precedence", ["web_search"], ["codebase_search"], id="web first"),
    ]
    spec = a_spec(an_alternative(*both, max_steps=9, node_max={}))

    assert route_score_of(a_case(spec=spec), trace).F == 1.0
    assert check(spec, trace.route, {}).F == 0.5


async def test_a_review_inside_a_task_is_a_cost_and_no_visit_of_the_route(tmp_path):
    """The machine has every result reviewed; nobody decided to go there."""
    trace, _ = await recorded(tmp_path)

    assert [visit.reviews for visit in trace.visits] == [None, 1, None, None, 2, 3, None, 4]
    assert trace.walked.count("critic") == cost_visits.function(a_case(), trace) - len(trace.route) == 4
    assert trace.route == ("investigator", "codebase_search", "web_search", "writer")


async def test_results_that_were_reviewed_need_no_critic_before_the_writer(tmp_path):
    """However unsure the supervisor is, what it claims was seen by a second pair of eyes."""
    unsure = PlanningTeam(decide=lambda context: a_choice(*can_run(context), all_done=not can_run(context)))
    trace, _ = await recorded(tmp_path, unsure)
    unreviewed = [visit.model_copy(update={"error": "broke"}) if visit.reviews else visit for visit in trace.visits]

    state = trace.state(["writer"])
    assert (state["confidence_before_writer"], state["reviews_before_writer"]) == (0.6, 3)
    case = a_case(spec=a_spec(an_alternative(*reviewed_policy(), *case_constraints())))
    assert route_score_of(case, trace).hard == ()
    assert route_score_of(case, trace.model_copy(update={"visits": tuple(unreviewed)})).hard == ("P2",)


async def test_a_critic_the_plan_sends_for_is_a_visit_like_any_other(tmp_path):
    """Its confidence is that of the step that chose it, also where another task stands for the choice."""
    add = [("add_task", {"objective": "Look.", "capability": name}) for name in ("investigator", "critic")]
    steps = [a_choice(1, 2, confidence=0.9), a_choice(all_done=True)]
    team = PlanningTeam(calls=[add], decide=steps)
    trace, _ = await recorded(tmp_path, team, variant=a_variant("plan-llm", plan=None))

    assert (trace.decisions[0].routed, trace.route[:2]) == ("investigator", ("investigator", "critic"))
    assert trace.confidence_before("critic") == 0.9


@pytest.mark.parametrize(
    ("supervisor", "plan", "says"),
    [("plan-fixed", "linear", False), ("plan-fixed", "fan-out", True), ("plan-hybrid", "linear", True)],
)
async def test_a_supervisor_has_no_say_where_its_plan_leaves_one_worker(tmp_path, supervisor, plan, says):
    trace, _ = await recorded(tmp_path, variant=a_variant(supervisor, plan), case=a_case(points=[INVESTIGATED]))

    assert (trace.points[0].say, "p1" in trace.choices, trace.without_say) == (
        says,
        says,
        frozenset() if says else {"p1"},
    )


async def test_a_plan_that_is_over_leaves_no_say_however_free_it_was(tmp_path):
    finding = {"agent_name": "writer", "summary": "s", "confidence": 0.5, "details": "d"}
    over = a_point("over", end=1.0).model_copy(
        update={"state": {"visits": ["writer"], "iterations": 1, "findings": [finding]}}
    )
    trace, _ = await recorded(tmp_path, variant=a_variant("plan-hybrid", "linear"), case=a_case(points=[over]))

    assert (trace.points[0].chosen, trace.without_say) == ("end", {"over"})


async def test_the_trace_holds_the_plan_and_each_tasks_history(tmp_path):
    team = PlanningTeam(replies={"critic": [REJECTED, REJECTED]})
    trace, _ = await recorded(tmp_path, team)
    plan = trace.plan

    assert plan.edges == ((1, 2), (1, 3), (2, 4), (3, 4))
    assert [(task.task_id, task.capability, task.status, task.attempts) for task in plan.tasks] == [
        (1, "investigator", "FAILED", 2),
        (2, "codebase_search", "READY", 0),
        (3, "web_search", "READY", 0),
        (4, "writer", "READY", 0),
    ]
    assert [(event.step, event.status) for event in plan.tasks[0].history] == [
        (1, "RUNNING"),
        (1, "NEEDS_REVIEW"),
        (1, "READY"),
        (2, "RUNNING"),
        (2, "NEEDS_REVIEW"),
        (2, "FAILED"),
    ]
    assert (plan.tasks[0].result, plan.tasks[0].feedback) == ("s", "REJECTED")
    assert json.loads(trace.model_dump_json())["plan"]["edges"] == [[1, 2], [1, 3], [2, 4], [3, 4]]


async def test_a_decision_names_the_tasks_it_chose_and_what_it_was_shown(tmp_path):
    team = PlanningTeam()
    trace, _ = await recorded(tmp_path, team)

    assert [(decision.tasks, decision.chosen) for decision in trace.decisions] == [
        ((1,), "investigator"),
        ((2, 3), "codebase_search"),
        ((4,), "writer"),
        ((), "end"),
    ]
    assert [decision.context for decision in trace.decisions[:3]] == team.decided


async def test_the_supervisors_calls_stay_in_the_order_they_were_made(tmp_path):
    trace, interactions = await recorded(tmp_path)
    first = [call for call in trace.calls if call.agent == "supervisor"][:2]
    asked = {found.key: found.request for found in interactions}

    assert ["tools" in asked[call.key] for call in first] == [True, False]


async def test_a_miss_amid_a_superstep_drops_all_of_it(tmp_path):
    """How far the neighbour of the visit that missed came is chance."""
    _, interactions = await recorded(tmp_path)
    trace = await replayed([found for found in interactions if found.agent != "web_search"])

    assert trace.walked == ("investigator", "critic")
    assert (trace.provenance.label, trace.provenance.frontier) == ("frontier", 2)


async def test_all_that_a_superstep_misses_is_known_at_once(tmp_path):
    """So that `evals plan` says the same every time, and a recorder asks for all of it."""
    _, interactions = await recorded(tmp_path)
    trace = await replayed([found for found in interactions if found.agent not in {"web_search", "codebase_search"}])

    assert [miss.agent for miss in trace.misses] == ["codebase_search", "web_search"]


async def test_the_user_is_simulated_under_a_plan_too(tmp_path):
    team = PlanningTeam(decide=lambda context: a_choice(4 if 4 in can_run(context) else can_run(context)[0]))
    trace, _ = await recorded(tmp_path, team, variant=a_variant(plan="optional-branch"))

    assert [exchange.question[:13] for exchange in trace.exchanges] == ["Which version"]
    assert trace.decisions[2].question == trace.exchanges[0].question
    assert trace.route == ("investigator", "codebase_search", "human_input", "web_search", "writer")


async def test_a_frozen_state_is_put_to_the_plan_supervisor_with_its_tasks_done(tmp_path):
    """A plan that stands where the state's findings have brought it."""
    trace, _ = await recorded(tmp_path, variant=a_variant(plan="linear"), case=a_case(points=[INVESTIGATED]))

    assert trace.points[0].chosen == "codebase_search"
