"""Plans and the team that works on them: a supervisor that runs whatever can run, unless the test says otherwise."""

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.builders.endpoint import NOW, WORKER_REPLIES, Endpoint, Reply, a_completion, a_toolbox, some_models
from tests.builders.state import a_state
from triage.graph import build_graph
from triage.graph_configuration import Configuration
from triage.llm import AGENT_HEADER
from triage.prompts.load import load_supervisor_prompt
from triage.state import BugTriageState, PlanLimits, TaskItem, TaskStatus
from triage.supervisors import SUPERVISORS

ToolCall = tuple[str, dict[str, Any]]
Decide = Callable[[str], Reply]

REJECTED = {**WORKER_REPLIES["critic"], "verdict": "UNCERTAIN", "ready_for_report": False, "gaps": ["no line named"]}


def a_task(task_id: int = 1, capability: str = "investigator", **fields: Any) -> TaskItem:
    """A task nobody has begun, waiting for none."""
    told = {"objective": f"Do part {task_id}.", "capability": capability}
    return TaskItem.model_validate({"task_id": task_id, **told, **fields})


def can_run(context: str) -> list[int]:
    """The tasks the board says can run."""
    listed = re.search(r"## Can run now\n(.*)", context)
    return [int(number) for number in re.findall(r"\d+", listed[1])] if listed else []


def a_choice(*run: int, **fields: Any) -> dict[str, Any]:
    """What the model replies when asked what runs next."""
    told = {"reasoning": "They are next.", "feedback": [], "all_done": False, "confidence": 0.6}
    return {"run": list(run), **told, **fields}


def tool_call(n: int, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The n-th tool call of a reply, as the endpoint writes it."""
    return {"id": f"call-{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def everything(context: str) -> dict[str, Any]:
    """All that can run, runs; the triage is complete when nothing can."""
    return a_choice(*can_run(context), all_done=not can_run(context), confidence=0.9)


@dataclass
class PlanningTeam:
    """Answers of a whole team. `calls` are the tool calls of each request with tools, none after the last; `decide`
    maps the supervisor's context to its decision, or lists them, the last for ever."""

    decide: Decide | Sequence[Reply] = everything
    calls: Sequence[Sequence[ToolCall]] = ()
    replies: Mapping[str, Sequence[Reply]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """The workers answer as in any test."""
        self.workers = Endpoint({**{name: [reply] for name, reply in WORKER_REPLIES.items()}, **self.replies})
        self.tools_offered: list[list[str]] = []
        self.tool_choices: list[str] = []
        self.consulted: list[str] = []
        self.decided: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request."""
        body = json.loads(request.content)
        if request.headers[AGENT_HEADER] != "supervisor":
            return self.workers(request)
        context = str(body["messages"][-1]["content"])
        if "tools" in body:
            self.tool_choices.append(body.get("tool_choice", "auto"))
            return self._with_tools(context, [tool["function"]["name"] for tool in body["tools"]])
        said = self._decision(context)
        self.decided.append(context)
        if isinstance(said, int):
            return httpx2.Response(said, json={"error": {"message": "planned outage"}})
        return httpx2.Response(200, json=a_completion(said if isinstance(said, str) else json.dumps(said)))

    def _decision(self, context: str) -> Reply:
        if callable(self.decide):
            return self.decide(context)
        return self.decide[min(len(self.decided), len(self.decide) - 1)]

    def _with_tools(self, context: str, offered: list[str]) -> httpx2.Response:
        turn = len(self.consulted)
        self.consulted.append(context)
        self.tools_offered.append(offered)
        wanted = self.calls[turn] if turn < len(self.calls) else ()
        calls = [tool_call(n, name, **arguments) for n, (name, arguments) in enumerate(wanted)]
        message = {"tool_calls": calls} if calls else {}
        return httpx2.Response(200, json=a_completion("ready", "tool_calls" if calls else "stop", **message))


def a_plan_configuration(supervisor: str = "plan-fixed", plan: str | None = "linear", **changes: Any) -> Configuration:
    """The fixed linear plan under the default guards."""
    chosen = None if supervisor == "plan-llm" else plan
    told = {"prompt": load_supervisor_prompt("plan-v1"), "supervisor": supervisor, "plan": chosen}
    limits = {"plan_limits": PlanLimits(**changes.pop("limits"))} if "limits" in changes else {}
    return Configuration(**{**told, **limits, **changes})


@dataclass
class Desk:
    """All a supervisor needs of a toolbox."""

    team: PlanningTeam

    def __post_init__(self) -> None:
        """Models that ask the team."""
        self.models = some_models(self.team)

    @staticmethod
    def clock() -> dt.datetime:
        """The time in every test."""
        return NOW


async def a_step(team: PlanningTeam, state: BugTriageState | None = None, **changes: Any) -> dict[str, Any]:
    """One answer of the supervisor, without a graph."""
    configuration = a_plan_configuration(**changes)
    return await SUPERVISORS[configuration.supervisor](configuration, Desk(team))(state or a_state())


def a_plan_graph(team: PlanningTeam, checkpointer: Any = None, **changes: Any) -> Any:
    """The compiled graph over `team`."""
    return build_graph(a_plan_configuration(**changes), a_toolbox(team), checkpointer)


async def a_finished_plan(team: PlanningTeam, state: BugTriageState, **changes: Any) -> BugTriageState:
    """The final state of a job."""
    return BugTriageState.model_validate(await a_plan_graph(team, **changes).ainvoke(state))


async def a_job(
    team: PlanningTeam | None = None, state: BugTriageState | None = None, **changes: Any
) -> BugTriageState:
    """A job by a plan, at its end."""
    return await a_finished_plan(team or PlanningTeam(), state or a_state(), **changes)


def statuses(job: BugTriageState) -> list[TaskStatus]:
    """How far each task of the plan came."""
    return [task.status for task in job.plan]
