"""One step of the plan supervisor: seed the plan if need be, let the model use its tools and decide, pick the tasks.

The model chooses among the tasks that can run, gives feedback to their workers and says when all is done; the code sees
to dependencies, budgets and the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from langchain_openai import ChatOpenAI

from triage.configuration import Configuration
from triage.llm import answering, resilient
from triage.plans import MODES, Mode, given_plan, may_reshape
from triage.state import BugTriageState, HumanExchange, PlanLimits, TaskItem, Worker
from triage.supervisors.plan.board import board
from triage.supervisors.plan.decide import Answer, Brief, Chain, Consultants, PlanDecision, consult, decide
from triage.supervisors.plan.parts import PlanPrompt, parts_of
from triage.supervisors.plan.status import guided, noted, runnable
from triage.supervisors.plan.tools import Desk, Tool, tools_of
from triage.supervisors.supervisor import MakesModels, Supervise

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


def fixed(configuration: Configuration, toolbox: MakesModels) -> Supervise:
    """A given plan whose shape is frozen."""
    return _supervisor("fixed", configuration, toolbox)


def llm(configuration: Configuration, toolbox: MakesModels) -> Supervise:
    """No plan to begin with: the model makes it."""
    return _supervisor("llm", configuration, toolbox)


def hybrid(configuration: Configuration, toolbox: MakesModels) -> Supervise:
    """A given plan that the model may extend and change."""
    return _supervisor("hybrid", configuration, toolbox)


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


def _choice(answer: Answer, chosen: Sequence[TaskItem], told: dict[int, str]) -> dict[str, Any]:
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
