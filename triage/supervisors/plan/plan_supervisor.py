"""One step of the plan supervisor: tools, then a structured decision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from triage.findings import Form
from triage.graph_configuration import Configuration
from triage.llm import answering, resilient
from triage.plans.plan_files import MODES, Mode, given_plan, may_reshape
from triage.state import BugTriageState, HumanExchange, PlanLimits, TaskItem, Worker
from triage.supervisors.plan.plan_progress import PlanPrompt, board, guided, noted, parts_of, runnable
from triage.supervisors.plan.plan_tools import Desk, Tool, tools_of, use
from triage.supervisors.supervisor import INVALID_OUTPUT, MakesModels, Supervise, fault
from triage.terminal_screen import invalid_decision

TOOL_ROUNDS: Final = 3
"""Requests with tools in one step; a small model never says that it is ready."""
CALLS_PER_ROUND: Final = 8

Chain = Runnable[Any, Any]
Brief = Callable[[Sequence[TaskItem], Sequence[str]], str]
"""The plan, and what tools have said -> the message that shows both."""


class TaskFeedback(BaseModel):
    """What the worker of one task should know."""

    task_id: int
    text: str


class PlanDecision(Form):
    """Which tasks of the plan run now, and whether the triage is complete."""

    # The docstrings, the names and the order are part of every request: touching them un-records every cassette.
    reasoning: str
    run: Annotated[list[int], Field(max_length=8)]
    feedback: Annotated[list[TaskFeedback], Field(max_length=8)]
    all_done: bool
    confidence: float = Field(ge=0.0, le=1.0)


@dataclass(frozen=True)
class PlanAnswer:
    """A decision and what it took; `forced` when code decided in the model's place."""

    decision: PlanDecision
    corrections: int = 0
    forced: bool = False


@dataclass(frozen=True)
class Consultants:
    """The model with its tools at hand: free to use them, or bound to (`begins`) while there is no plan at all."""

    tools: tuple[Tool, ...]
    free: Chain
    begins: Chain


async def consult(asked: Consultants, system: str, brief: Brief, desk: Desk) -> tuple[Desk, list[str]]:
    """The desk after the model has used its tools, and what they said; it stops when a reply brings no new call."""
    notes: list[str] = []
    made: set[str] = set()
    for _ in range(TOOL_ROUNDS):
        chain = asked.free if desk.plan else asked.begins
        reply: AIMessage = await chain.ainvoke([SystemMessage(system), HumanMessage(brief(desk.plan, notes))])
        fresh = {repr((call["name"], call["args"])): call for call in reply.tool_calls[:CALLS_PER_ROUND]}
        fresh = {spelt: call for spelt, call in fresh.items() if spelt not in made}
        if not fresh:
            break
        made |= fresh.keys()
        for call in fresh.values():
            desk, said = use(desk, asked.tools, call["name"], call["args"])
            notes.append(said)
    return desk, notes


async def decide(chain: Chain, system: str, briefing: str, plan: Sequence[TaskItem]) -> PlanAnswer:
    """The decision, after at most one correction; if that is of no use either, everything that can run does.

    Raises:
        openai.OpenAIError: an outage. LookupError: a request nobody recorded.
    """
    messages: list[BaseMessage] = [SystemMessage(system), HumanMessage(briefing)]
    asked = messages
    for corrections in range(2):
        try:
            decision = await chain.ainvoke(asked)
        except INVALID_OUTPUT as error:
            wrong = fault(error)
        else:
            wrong = _useless(decision, plan)
            if not wrong:
                return PlanAnswer(decision, corrections)
        invalid_decision(corrections + 1, wrong)
        asked = [*messages, _correction(wrong, plan)]
    return _forced(plan)


def _useless(decision: object, plan: Sequence[TaskItem]) -> str:
    """Why nothing follows from the decision although something could run; empty if something does."""
    if not isinstance(decision, PlanDecision):
        return "the reply held no decision"
    ready = {task.task_id for task in runnable(plan)}
    if decision.all_done or not ready or ready.intersection(decision.run):
        return ""
    return f"run names no task that can run now (you wrote {decision.run})"


def _correction(wrong: str, plan: Sequence[TaskItem]) -> HumanMessage:
    ready = ", ".join(str(task.task_id) for task in runnable(plan)) or "none"
    return HumanMessage(
        f"Your last reply could not be used: {wrong}.\n"
        "Reply again with JSON that fits the schema exactly.\n"
        f"Tasks that can run now: {ready}. If the triage is complete, set all_done to true."
    )


def _forced(plan: Sequence[TaskItem]) -> PlanAnswer:
    run = [task.task_id for task in runnable(plan)]
    why = "No usable decision in two attempts: everything that can run is run."
    decision = PlanDecision(reasoning=why, run=run, feedback=[], all_done=False, confidence=0.0)
    return PlanAnswer(decision, corrections=1, forced=True)


VISITS_PER_TASK: Final = 2
"""The work and its review."""


@dataclass(frozen=True)
class Office:
    """Everything that stays the same from step to step."""

    mode: Mode
    limits: PlanLimits
    prompt: PlanPrompt
    given: tuple[TaskItem, ...]
    consults: Consultants
    decides: Chain
    toolbox: MakesModels


def _supervisor(mode: Mode, configuration: Configuration, toolbox: MakesModels) -> Supervise:
    """The supervisor of `mode`. Raises ConfigurationError for a plan or prompt that does not fit it."""
    tools = tools_of(mode)
    office = Office(
        mode=mode,
        limits=configuration.plan_limits,
        prompt=parts_of(configuration.needed_prompt),
        given=given_plan(mode, configuration.plan),
        consults=Consultants(
            tools=tools,
            free=resilient(partial(_with_tools, tools), toolbox.models, "supervisor"),
            begins=resilient(partial(_bound_to_call, tools), toolbox.models, "supervisor"),
        ),
        decides=resilient(_structured, toolbox.models, "supervisor"),
        toolbox=toolbox,
    )

    async def supervise(state: BugTriageState) -> dict[str, Any]:
        """Take one step."""
        plan = tuple(state.plan) or adopted(office.given, state)
        if reason := over(plan, state, office.limits):
            return _end(state, plan, reason)
        return await _step(office, state, plan)

    return supervise


fixed = partial(_supervisor, "fixed")
"""A given plan whose shape is frozen."""
llm = partial(_supervisor, "llm")
"""No plan to begin with: the model makes it."""
hybrid = partial(_supervisor, "hybrid")
"""A given plan that the model may extend and change."""


def adopted(given: Sequence[TaskItem], state: BugTriageState) -> tuple[TaskItem, ...]:
    """The given plan in a job that is under way already: what a finding answers is completed, task by task."""
    left = list(state.findings)
    plan = []
    for task in given:
        found = next((finding for finding in left if finding.agent_name == task.capability), None)
        if found is not None:
            left.remove(found)
            done = task.model_copy(update={"status": "COMPLETED", "result": found, "attempts": 1})
            plan.append(noted(done, state.plan_steps, "done before the plan was made"))
        else:
            plan.append(task)
    return tuple(plan)


def over(plan: Sequence[TaskItem], state: BugTriageState, limits: PlanLimits) -> str | None:
    """Why no further step is taken, None if one is."""
    final = next((task.task_id for task in plan if task.is_final and task.status == "COMPLETED"), None)
    if final is not None:
        return f"Task {final}, the final one, is completed."
    if state.plan_steps >= limits.max_steps:
        return f"All {limits.max_steps} steps are used."
    return None


def has_a_say(configuration: Configuration, state: BugTriageState) -> bool:
    """Whether the supervisor can choose between workers in this state: not once the plan is over, nor where its shape
    is frozen and all that can run are tasks of one worker."""
    mode = MODES[configuration.supervisor]
    plan = tuple(state.plan) or adopted(given_plan(mode, configuration.plan), state)
    if over(plan, state, configuration.plan_limits):
        return False
    return may_reshape(mode) or len({task.capability for task in runnable(plan)}) > 1


async def _step(office: Office, state: BugTriageState, plan: Sequence[TaskItem]) -> dict[str, Any]:
    step = state.plan_steps + 1
    prompt = office.prompt
    desk = Desk(tuple(plan), step, office.limits, office.toolbox.clock)
    desk, notes = await consult(office.consults, prompt.system, _brief(office, state, prompt.tools), desk)
    briefing = _brief(office, state, prompt.decide)(desk.plan, notes)
    answer = await decide(office.decides, prompt.system, briefing, desk.plan)
    chosen = picked(desk.plan, answer.decision, room=(state.max_iterations - state.iterations) // VISITS_PER_TASK)
    told = {one.task_id: one.text for one in answer.decision.feedback}
    board_now = [guided(task, told[task.task_id]) if task.task_id in told else task for task in desk.plan]
    return {
        **_choice(answer, chosen, told),
        "plan": board_now,
        "plan_steps": step,
        "briefing": briefing,
    }


def picked(plan: Sequence[TaskItem], decision: PlanDecision, room: int) -> list[TaskItem]:
    """The tasks that run now, in the order named: of those chosen the ones that can, at least one, and no more than the
    visits left allow. A question stops the whole graph, so it is asked alone.

    A model that names tasks and says that all is done is asked again once they are back.
    """
    ready = {task.task_id: task for task in runnable(plan)}
    chosen = [ready[number] for number in dict.fromkeys(decision.run) if number in ready]
    if chosen and chosen[0].capability == "human_input":
        return chosen[:1]
    return [task for task in chosen if task.capability != "human_input"][: max(1, room)]


def headline(chosen: Sequence[TaskItem]) -> Worker | None:
    """What stands for the whole choice where only one node can be named: the writer, else the first."""
    names = [task.capability for task in chosen]
    return "writer" if "writer" in names else (names[0] if names else None)


def _choice(answer: PlanAnswer, chosen: Sequence[TaskItem], told: dict[int, str]) -> dict[str, Any]:
    update: dict[str, Any] = {
        "next_node": headline(chosen) or "end",
        "selected_tasks": [task.task_id for task in chosen],
        "supervisor_reasoning": answer.decision.reasoning,
        "supervisor_confidence": answer.decision.confidence,
        "forced_fallback": answer.forced,
        "corrections": answer.corrections,
    }
    if update["next_node"] == "human_input":
        question = HumanExchange(question=chosen[0].objective, context=told.get(chosen[0].task_id, ""))
        update |= {"pending_exchange": question, "awaiting_human": True}
    return update


def _end(state: BugTriageState, plan: Sequence[TaskItem], reason: str) -> dict[str, Any]:
    """The job is over without another word of the model; its last confidence stands."""
    return {
        "next_node": "end",
        "selected_tasks": [],
        "supervisor_reasoning": reason,
        "supervisor_confidence": state.supervisor_confidence,
        "forced_fallback": False,
        "corrections": 0,
        "plan": list(plan),
        "briefing": "",
    }


def _brief(office: Office, state: BugTriageState, ending: str) -> Brief:
    def brief(plan: Sequence[TaskItem], notes: Sequence[str]) -> str:
        return board(state, plan, office.mode, office.limits, notes, ending)

    return brief


def _with_tools(tools: Sequence[Tool], model: ChatOpenAI) -> Chain:
    return model.bind_tools([tool.spec for tool in tools])


def _bound_to_call(tools: Sequence[Tool], model: ChatOpenAI) -> Chain:
    return model.bind_tools([tool.spec for tool in tools], tool_choice="required")


def _structured(model: ChatOpenAI) -> Chain:
    return answering(model, PlanDecision)
