"""A router is asked alone in the state in which it decided, whatever kind of router it is."""

import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send

from evals.target.cases import FrozenPoint
from evals.target.drive import TargetCall, TargetRun
from evals.target.frozen_decision_points import choice, difference
from tests.builders.router_graph import a_router_graph, inside
from tests.builders.target_session import Session, target_session

seen: list[dict[str, Any]] = []


class State(TypedDict, total=False):
    text: str
    log: Annotated[list[int], operator.add]
    messages: Annotated[list[AnyMessage], add_messages]


def first(_state: State) -> State:
    return {"log": [1], "messages": [AIMessage("hello")]}


def look(state: State) -> None:
    """Keep what a router is shown."""
    told = [message.content for message in state["messages"]]
    seen.append({"text": state["text"], "log": state["log"], "messages": told})


def commanding(state: State) -> Command[Literal["a", "b"]]:
    look(state)
    return Command(goto="a", update={"log": [2]})


def looking(state: State) -> State:
    look(state)
    return {"log": [2]}


def a_graph(router: Any, edge: Any = None) -> Any:
    return a_router_graph(State, router, edge, first)


KINDS = {
    "Command": (a_graph(commanding), "a"),
    "edge": (a_graph(looking, lambda state: "b" if state["log"] == [1, 2] else "a"), "b"),
    "end": (a_graph(looking, lambda _: END), "end"),
    "Send": (a_graph(looking, lambda state: [Send("a", state), Send("b", state)]), "a b"),
    "subgraph": (inside(State, a_graph(commanding)), "a"),
}


@dataclass
class Kept:
    """A state that JSON cannot hold."""

    text: str = ""
    where: Path | None = None


async def test_a_state_that_json_cannot_hold_is_told(tmp_path: Path) -> None:
    def router(state: Kept) -> Command[Literal["a"]]:
        assert state.where is not None
        return Command(goto="a", update={"text": state.where.name})

    builder = StateGraph(Kept)
    for name, node in (("first", lambda _: {"where": Path("x")}), ("router", router), ("a", lambda _: {})):
        builder.add_node(name, node)  # type: ignore[arg-type]
    builder.add_edge(START, "first")
    builder.add_edge("first", "router")
    graph = builder.compile()
    with target_session(tmp_path) as session:
        (made,) = (await run(session, graph, {"text": "x"}, keeps_states=True)).decisions
        alone = await session.replay(
            TargetCall(graph, made.state, routers=frozenset({"router"}), alone=(*made.path, made.node))
        )

    point = FrozenPoint(id="router-1", router="router", node="router", chosen="a", state={})
    assert difference(alone, point) == "AttributeError: 'str' object has no attribute 'name' (node router)"


async def run(session: Session, graph: Any, inputs: Any, **fields: Any) -> TargetRun:
    found = await session.replay(TargetCall(graph, inputs, routers=frozenset({"router"}), **fields))
    assert found.error is None
    return found


@pytest.mark.parametrize("kind", KINDS)
async def test_a_router_that_is_asked_alone_sees_the_same_state_and_chooses_the_same(kind: str, tmp_path: Path) -> None:
    graph, expected = KINDS[kind]
    seen.clear()
    with target_session(tmp_path) as session:
        (made,) = (await run(session, graph, {"text": "x"}, keeps_states=True)).decisions
        alone = await run(session, graph, made.state, alone=(*made.path, made.node))

    assert choice(made.chosen) == expected
    assert [choice(each.chosen) for each in alone.decisions] == [expected]
    assert [step.name for step in alone.steps] == ["router"]
    assert seen == [{"text": "x", "log": [1], "messages": ["hello"]}] * 2
