"""A step's two conversations: how long tools are used, and what becomes of a decision that is of no use."""

import openai
import pytest

from tests.builders.plan import PlanningTeam, a_choice, a_step, a_task, everything
from tests.builders.state import a_state
from triage.errors import PromptError
from triage.prompts.load import parse_supervisor_prompt
from triage.supervisors.plan.plan_progress import parts_of


def thinking(*thoughts):
    return [[("think", {"thought": thought})] for thought in thoughts]


async def test_a_model_that_needs_no_tool_is_asked_once_with_tools_and_once_for_its_decision():
    team = PlanningTeam()
    await a_step(team)

    assert (len(team.consulted), len(team.decided)) == (1, 1)


async def test_the_decision_is_made_over_the_plan_as_the_tools_left_it():
    team = PlanningTeam(calls=[[("cancel_task", {"task_id": 1, "reason": "known"})]])
    update = await a_step(team)

    assert "[1] CANCELLED investigator" in team.decided[0]
    assert update["plan"][0].status == "CANCELLED"


async def test_what_the_tools_said_is_in_the_next_request():
    team = PlanningTeam(calls=[[("get_current_datetime", {})]])
    await a_step(team)

    assert "1. get_current_datetime(): 2026-11-22T09:30:00+00:00" in team.consulted[1]
    assert "1. get_current_datetime(): 2026-11-22T09:30:00+00:00" in team.decided[0]


async def test_several_tools_of_one_reply_are_used_in_order():
    calls = [
        ("add_task", {"objective": "a", "capability": "investigator"}),
        ("add_task", {"objective": "b", "capability": "writer"}),
    ]
    update = await a_step(PlanningTeam(calls=[calls]), supervisor="plan-llm")

    assert [(task.task_id, task.objective) for task in update["plan"]] == [(1, "a"), (2, "b")]


async def test_a_model_without_any_plan_is_bound_to_call_a_tool_until_it_has_one():
    """Small models say that they are ready with an empty plan in front of them."""
    team = PlanningTeam(calls=[*thinking("a"), [("add_task", {"objective": "a", "capability": "investigator"})]])
    await a_step(team, supervisor="plan-llm")

    assert team.tool_choices == ["required", "required", "auto"]


async def test_tools_are_used_three_rounds_at_most():
    team = PlanningTeam(calls=thinking("a", "b", "c", "d", "e"))
    await a_step(team)

    assert len(team.consulted) == 3


async def test_a_model_that_repeats_its_call_is_not_asked_again():
    team = PlanningTeam(calls=thinking("a", "a", "b"))
    await a_step(team)

    assert len(team.consulted) == 2


async def test_ids_that_the_endpoint_makes_up_never_enter_a_request():
    team = PlanningTeam(calls=thinking("a"))
    await a_step(team)

    assert not any("call-0" in context for context in (*team.consulted, *team.decided))


@pytest.mark.parametrize("mode", ["fixed", "llm", "hybrid"])
async def test_the_endpoint_is_told_of_the_tools_of_the_mode_alone(mode):
    team = PlanningTeam()
    await a_step(team, supervisor=f"plan-{mode}")

    assert ({"add_task", "patch_task"} <= set(team.tools_offered[0])) == (mode != "fixed")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("no json", "reply: Invalid JSON"),
        ('{"run": [1]}', "reasoning: Field required"),
        ("", "it was empty"),
        (a_choice(3), "run names no task that can run now (you wrote [3])"),
        (a_choice(), "run names no task that can run now (you wrote [])"),
    ],
)
async def test_a_useless_decision_is_corrected_once(reply, said):
    team = PlanningTeam(decide=[reply, a_choice(1)])
    update = await a_step(team)

    assert said in team.decided[1]
    assert "Tasks that can run now: 1." in team.decided[1]
    assert (update["selected_tasks"], update["corrections"], update["forced_fallback"]) == ([1], 1, False)


@pytest.mark.parametrize("reply", ["no json", a_choice(3)])
async def test_after_two_useless_decisions_everything_that_can_run_does(reply):
    update = await a_step(PlanningTeam(decide=[reply]))

    assert (update["selected_tasks"], update["supervisor_confidence"], update["forced_fallback"]) == ([1], 0.0, True)


async def test_an_outage_is_no_invalid_output():
    with pytest.raises(openai.InternalServerError):
        await a_step(PlanningTeam(decide=[500]))


async def test_equal_states_give_equal_requests():
    teams = [PlanningTeam(calls=thinking("a")) for _ in range(2)]
    for team in teams:
        await a_step(team)

    assert teams[0].consulted == teams[1].consulted
    assert teams[0].decided == teams[1].decided


@pytest.mark.parametrize("task", ["Decide.", "a\n<!-- decide -->\nb", "a\n<!-- decide -->\n<!-- review -->\nc"])
def test_a_prompt_that_lacks_a_part_is_refused(task):
    front = "version: t\nparent: null\ndate: 2026-11-22\nchanges: c\nsupervisor: plan\n"
    prompt = parse_supervisor_prompt(f"---\n{front}---\nYou plan.\n<!-- task -->\n{task}\n", "t.md")

    with pytest.raises(PromptError, match="it needs <!-- decide --> and <!-- review -->"):
        parts_of(prompt)


async def test_everything_runs_what_can_run():
    """The builder's own supervisor, which most tests rest on."""
    update = await a_step(
        PlanningTeam(decide=everything), a_state(plan=[a_task(1), a_task(2), a_task(3, dependencies=(1,))])
    )

    assert update["selected_tasks"] == [1, 2]
