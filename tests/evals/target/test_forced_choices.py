"""A choice that is forced in a router's place changes where the run goes on, and nothing else."""

from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.types import Command, Send

from evals.target.drive import TargetCall, TargetRun
from tests.builders.model_server import model_server
from tests.builders.router_graph import a_router_graph, inside
from tests.builders.target_session import target_session


class State(TypedDict, total=False):
    said: str


def commanding(_: State) -> Command[Literal["a", "b"]]:
    return Command(goto="a", update={"said": "a, surely"})


def saying(_: State) -> State:
    return {"said": "a, surely"}


def a_graph(router: Any, edge: Any = None) -> Any:
    return a_router_graph(State, router, edge)


KINDS = {
    "Command": a_graph(commanding),
    "edge": a_graph(saying, lambda _: "a"),
    "subgraph": inside(State, a_graph(commanding)),
}


async def forced(graph: Any, tmp_path: Path, choice: str) -> TargetRun:
    with target_session(tmp_path) as session:
        return await session.replay(TargetCall(graph, {}, routers=frozenset({"router"}), forced={0: choice}))


@pytest.mark.parametrize("kind", KINDS)
async def test_the_run_goes_on_to_the_forced_node_with_what_the_router_said(kind: str, tmp_path: Path) -> None:
    run = await forced(KINDS[kind], tmp_path, "b")

    assert [step.name for step in run.steps][-2:] == ["router", "b"]
    assert [made.chosen for made in run.decisions] == [("b",)]
    assert run.output == {"said": "a, surely"}


async def test_an_end_can_be_forced(tmp_path: Path) -> None:
    assert [step.name for step in (await forced(KINDS["edge"], tmp_path, "end")).steps] == ["router"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_node_that_the_router_does_not_lead_to_is_refused(kind: str, tmp_path: Path) -> None:
    assert (await forced(KINDS[kind], tmp_path, "c")).error == "router cannot go on to it, or not without arguments"


async def test_a_router_that_sends_input_along_is_not_forced(tmp_path: Path) -> None:
    run = await forced(a_graph(saying, lambda _: [Send("a", {})]), tmp_path, "b")

    assert run.error == "router calls tools or sends input, which takes more than another name"


async def test_another_tool_is_called_with_the_same_arguments_and_a_router_that_called_none_is_refused(
    tmp_path: Path,
) -> None:
    @tool
    def billing(text: str) -> str:
        """Ask the billing desk."""
        return f"billing: {text}"

    @tool
    def technical(text: str) -> str:
        """Ask the technical desk."""
        return f"technical: {text}"

    def say(text: str, _: Any) -> Any:
        return "Done." if '"tool"' in text else [("billing", {"text": "it hangs"})]

    asked = {"messages": [("user", "Help")]}
    with target_session(tmp_path) as session, model_server(say) as (url, bodies):
        agent = create_agent(
            ChatOpenAI(model="m", base_url=f"{url}/v1", api_key="k"), [billing, technical], name="boss"
        )
        call = TargetCall(agent, asked, routers=frozenset({"boss"}), forced={0: "technical"})
        run = await session.record(call)
        last = await session.record(TargetCall(agent, asked, routers=frozenset({"boss"}), forced={1: "technical"}))

    assert [made.chosen for made in run.decisions] == [("technical",), ("__end__",)]
    assert bodies[1]["messages"][-1]["content"] == "technical: it hangs"
    assert last.error == "model cannot go on to it, or not without arguments"
