"""What is told of a run: steps, decisions, tool calls, interrupts, output, and every way a target can fail."""

import asyncio
import operator
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt

from evals.target.clock_and_random import frozen_clock
from evals.target.drive import TargetCall, TargetRun
from evals.target.observe import RouterChoice
from tests.builders.model_server import model_server
from tests.builders.target_session import Session, target_session


class State(TypedDict, total=False):
    ticket: str
    kind: str
    notes: Annotated[list[str], operator.add]
    reply: str


def model(url: str, **settings: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m-1", base_url=f"{url}/v1", api_key="k", **settings)


def support(url: str) -> StateGraph:
    """A router, two workers of which one asks the customer, and a reply; its synchronous nodes run in threads."""
    asked = model(url)

    def router(state: State) -> State:
        return {"kind": asked.invoke(f"route {state['ticket']}").content}

    def refund(_: State) -> State:
        number = interrupt({"topic": "order number", "question": "Which order?"})
        return {"notes": [f"order {number}"]}

    def technical(_: State) -> State:
        return {"notes": ["restart"]}

    def reply(state: State) -> State:
        return {"reply": asked.invoke(f"reply {state['notes']}").content}

    graph = StateGraph(State)
    for node in (router, refund, technical, reply):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "router")
    graph.add_conditional_edges("router", lambda state: state["kind"], ["refund", "technical"])
    graph.add_edge("refund", "reply")
    graph.add_edge("technical", "reply")
    graph.add_edge("reply", END)
    return graph


def says(text: str, _: Any) -> str:
    if "route" in text:
        return "refund" if "money" in text else "technical"
    return f"Dear customer {text[-30:-3]}"


def names(run: TargetRun) -> list[str]:
    return ["/".join((*step.path, step.name)) for step in run.steps]


async def both(session: Session, make: Any, say: Any, **settings: Any) -> TargetRun:
    """The run as recorded; its replay with the server stopped is the same."""
    with model_server(say) as (url, _):
        recorded = await session.record(make(url), **settings)
    replayed = await session.replay(make(url), **settings)
    assert replayed == recorded
    return replayed


@pytest.mark.parametrize(
    "answers",
    [["A-17"], {"order number": "A-17", "*": "?"}, {"*": "A-17"}, lambda payload: f"A-{len(payload) + 15}"],
    ids=["in order", "by topic", "any", "by a function"],
)
async def test_a_router_with_workers_and_an_interrupt(answers: Any, tmp_path: Path) -> None:
    def make(url: str) -> TargetCall:
        return TargetCall(
            support(url).compile(), {"ticket": "money back"}, answers=answers, routers=frozenset({"router"})
        )

    with target_session(tmp_path) as session:
        run = await both(session, make, says)

    assert run.ended == "finished"
    assert names(run) == ["router", "refund", "reply"]
    assert run.decisions == (RouterChoice(router="router", node="router", step=0, chosen=("refund",)),)
    assert [asked.answer for asked in run.interrupts] == ["A-17"]
    assert run.output["notes"] == ["order A-17"]


async def test_an_interrupt_without_an_answer_ends_the_run_in_one_line(tmp_path: Path) -> None:
    with target_session(tmp_path) as session, model_server(says) as (url, _):
        run = await session.record(TargetCall(support(url).compile(), {"ticket": "money"}))

    assert run.ended == "unanswered"
    assert "Which order?" in str(run.error)
    assert "`answers:`" in str(run.error)


async def test_a_checkpointer_without_asynchronous_methods_is_run_synchronously(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "memory.sqlite")) as saver, target_session(tmp_path) as session:

        def make(url: str) -> TargetCall:
            graph = support(url).compile(checkpointer=saver)
            return TargetCall(graph, {"ticket": "money"}, answers=["A-1"], routers=frozenset({"router"}))

        with model_server(says) as (url, _):
            run = await session.record(make(url))

    assert (run.ended, names(run)) == ("finished", ["router", "refund", "reply"])


async def test_the_agent_of_a_request_is_its_node_or_the_agents_name(tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        await both(session, lambda url: TargetCall(supervisor(url), ASKED), plans)

    assert {found.agent for found in session.cassette.interactions} == {"boss", "finder"}


ASKED = {"messages": [("user", "Research tea")]}


def supervisor(url: str) -> Any:
    """An agent whose tools are a subagent and a plain function, with streaming models."""
    finder = create_agent(model(url, streaming=True), [], system_prompt="You find.", name="finder")

    @tool
    async def find(topic: str) -> str:
        """Find out about a topic."""
        found = await finder.ainvoke({"messages": [("user", topic)]})
        return found["messages"][-1].content

    @tool
    def count(word: str) -> str:
        """Count the letters of a word."""
        return str(len(word))

    return create_agent(model(url, streaming=True), [find, count], system_prompt="You lead.", name="boss")


def plans(text: str, _: Any) -> Any:
    if "You find." in text:
        return "Tea is a drink."
    if '"tool"' in text:
        return "All done."
    return [("find", {"topic": "tea"}), ("count", {"word": "tea"})]


async def test_a_supervisor_agent_decides_by_the_tools_it_calls(tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        run = await both(session, lambda url: TargetCall(supervisor(url), ASKED, routers=frozenset({"boss"})), plans)

    assert [decision.chosen for decision in run.decisions] == [("find", "count"), ("__end__",)]
    assert [decision.by for decision in run.decisions] == ["tool", "edge"]
    called = {step.name: (step.arguments, step.path) for step in run.steps if step.kind == "tool"}
    assert called == {"find": ({"topic": "tea"}, ("tools",)), "count": ({"word": "tea"}, ("tools",))}
    assert [(use.tool, use.recorded) for use in session.trials[-1].tool_calls] == [("find", False), ("count", False)]
    assert run.output["messages"][-1]["content"] == "All done."  # type: ignore[index,call-overload]


async def test_a_tool_that_a_node_runs_by_hand_is_a_step_with_its_arguments(tmp_path: Path) -> None:
    """`save` and `finish` are no LangChain tools: one is a function that a node calls, one only ends the run. `find` is
    one: where its call is refused, it has not run."""

    def save(text: str) -> str:
        """Save."""
        return text

    finish = {"name": "finish", "description": "End.", "parameters": {"type": "object", "properties": {}}}

    def make(url: str) -> TargetCall:
        @tool  # made in the session, as a target's are
        def find(topic: str) -> str:
            """Find."""
            return topic

        asked = model(url).bind_tools([save, find, finish])

        def decide(state: MessagesState) -> Any:
            return {"messages": [asked.invoke(state["messages"])]}

        def tools(state: MessagesState) -> Any:
            return {"messages": [ToolMessage("no", tool_call_id=one["id"]) for one in state["messages"][-1].tool_calls]}

        graph = StateGraph(MessagesState).add_node(decide).add_node(tools).add_edge(START, "decide")
        graph.add_conditional_edges("decide", lambda s: END if "'finish'" in str(s["messages"][-1]) else "tools")
        return TargetCall(graph.add_edge("tools", "decide"), {"messages": ["hello"]}, routers=frozenset({"decide"}))

    def say(text: str, _: Any) -> Any:
        return [("finish", {})] if '"tool"' in text else [("save", {"text": "tea"}), ("find", {"topic": "tea"})]

    with target_session(tmp_path) as session:
        unrecorded = await session.replay(make("http://localhost:1"))
        run = await both(session, make, say)

    assert {"save", "find", "finish"} <= set(unrecorded.names.steps)
    assert names(run) == ["decide", "decide/save", "tools", "decide", "decide/finish"]
    assert [step.arguments for step in run.steps] == [{}, {"text": "tea"}, {}, {}, {}]
    assert [decision.step for decision in run.decisions] == [0, 2]


async def test_results_of_tools_that_are_recorded_by_name_are_replayed(tmp_path: Path) -> None:
    ran: list[str] = []

    @tool
    def clock(zone: str) -> str:
        """Tell the time."""
        ran.append(zone)
        return f"{len(ran)} o'clock"

    @tool
    async def search(topic: str) -> str:
        """Tell the search."""
        ran.append(topic)
        return f"{len(ran)} search"

    def say(text: str, _: Any) -> Any:
        return "It is late." if '"tool"' in text else [("clock", {"zone": "UTC"}), ("search", {"topic": "tea"})]

    with target_session(tmp_path) as session:
        await both(
            session,
            lambda url: TargetCall(create_agent(model(url), [clock, search]), ASKED),
            say,
            tools={"clock", "search"},
        )

    assert sorted(ran) == ["UTC", "tea"]
    assert all(use.recorded for use in session.trials[-1].tool_calls)
    assert {i.uri for i in session.cassette.interactions} == {"/tools/clock", "/tools/search", "/v1/chat/completions"}


async def test_a_recorded_tool_that_returns_no_json_is_told_in_one_line(tmp_path: Path) -> None:
    @tool
    def handle() -> Any:
        """Open it."""
        return object()

    graph = StateGraph(State)
    graph.add_node("use", lambda _: {"reply": str(handle.invoke({}))})
    graph.add_edge(START, "use")
    with target_session(tmp_path) as session, model_server(says):
        run = await session.record(TargetCall(graph, {}), tools={"handle"})

    assert run.error == (
        "RecordingError: tool handle returns a object that is no JSON, so it cannot be recorded: "
        "take it off `record:` (node use)"
    )


async def test_a_command_router_and_a_subgraph(tmp_path: Path) -> None:
    def router(_: State) -> Command[Literal["support", "other"]]:
        return Command(goto="support", update={"kind": "x"})

    def make(url: str) -> TargetCall:
        graph = StateGraph(State)
        graph.add_node("router", router)
        graph.add_node("support", support(url).compile())
        graph.add_node("other", lambda _: {})
        graph.add_edge(START, "router")
        return TargetCall(graph, {"ticket": "printer"}, routers=frozenset({"router"}))

    with target_session(tmp_path) as session:
        run = await both(session, make, says)

    assert names(run) == ["router", "support", "support/router", "support/technical", "support/reply"]
    assert [(d.path, d.chosen) for d in run.decisions] == [((), ("support",)), (("support",), ("technical",))]


async def test_a_router_that_sends_several_side_by_side(tmp_path: Path) -> None:
    graph = StateGraph(State)
    graph.add_node("plan", lambda _: {})
    graph.add_node("work", lambda given: {"notes": [given["ticket"]]})
    graph.add_node("join", lambda state: {"reply": ",".join(sorted(state["notes"]))})
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda _: [Send("work", {"ticket": each}) for each in "abc"], ["work"])
    graph.add_edge("work", "join")
    graph.set_finish_point("join")
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(graph, {"ticket": "t"}, routers=frozenset({"plan", "join"})))

    assert [decision.chosen for decision in run.decisions] == [("work", "work", "work"), ("__end__",)]
    assert [(step.name, step.superstep) for step in run.steps] == [
        ("plan", 0),
        ("work", 1),
        ("work", 1),
        ("work", 1),
        ("join", 2),
    ]
    assert run.output["reply"] == "a,b,c"


def plain(node: Any = lambda _: {"reply": "done"}) -> StateGraph:
    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph


async def made_async(config: RunnableConfig) -> Any:
    return plain().compile()


@asynccontextmanager
async def made_in_a_block(config: RunnableConfig) -> Any:
    yield plain().compile()


@pytest.mark.parametrize("target", [plain(), plain().compile(), plain, made_async, made_in_a_block])
async def test_a_target_may_be_a_graph_or_a_factory(target: Any, tmp_path: Path) -> None:
    if target is plain:
        target = lambda: plain()  # noqa: E731, PLW0108 - a factory without parameters
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(target, {"ticket": "t"}, output=lambda state: {"said": state["reply"]}))

    assert run.output == {"said": "done"}


async def test_no_graph_is_told_in_one_line(tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(lambda: 3, {}))

    assert (run.ended, run.error) == (
        "failed",
        "a int is no LangGraph graph: give a compiled graph or its factory",
    )


def raising(_: State) -> State:
    raise KeyError("order")


def leaving(_: State) -> State:
    raise SystemExit(3)


@pytest.mark.parametrize(("node", "error"), [(raising, "KeyError: 'order'"), (leaving, "SystemExit: 3")])
async def test_a_target_that_raises_is_told_with_its_node(node: Any, error: str, tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(plain(node), {"ticket": "t"}))

    assert run.ended == "failed"
    assert str(run.error).startswith(error)


async def hanging(_: State) -> State:
    await asyncio.sleep(60)
    return {}


def hanging_in_a_thread(_: State) -> State:
    time.sleep(5)
    return {}


async def blocking_the_loop(_: State) -> State:
    time.sleep(5)  # noqa: ASYNC251 - the mistake of a target
    return {}


@pytest.mark.parametrize("node", [hanging, hanging_in_a_thread, blocking_the_loop])
async def test_a_target_that_hangs_is_told_and_holds_up_no_other(node: Any, tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(plain(node), {"ticket": "t"}, timeout=0.2))
        after = await session.replay(TargetCall(plain(), {"ticket": "t"}))

    assert run.ended == "timeout"
    assert str(run.error).startswith("no end after 0.2 s in node node")
    assert ("blocks its event loop" in str(run.error)) == (node is blocking_the_loop)
    assert after.ended == "finished"


async def test_a_graph_that_loops_ends_at_the_recursion_limit(tmp_path: Path) -> None:
    graph = plain()
    graph.add_edge("node", "node")
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(graph, {"ticket": "t"}, recursion_limit=7))

    assert (run.ended, len(run.steps)) == ("recursion_limit", 7)


async def test_what_a_target_prints_is_told(tmp_path: Path, capsys: Any) -> None:
    def node(_: State) -> State:
        print("hello from the node")
        return {"reply": "done"}

    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(plain(node), {"ticket": "t"}))

    assert run.printed == "hello from the node\n"
    assert capsys.readouterr().out == ""


async def test_a_prompt_with_the_time_and_random_numbers_replays_under_a_frozen_clock(tmp_path: Path) -> None:
    import random
    import uuid

    def make(url: str) -> TargetCall:
        def node(_: State) -> State:
            prompt = f"{datetime.now(UTC)} {uuid.uuid4()} {random.random()}"  # noqa: S311 - what a target may do
            return {"reply": model(url).invoke(prompt).content}

        return TargetCall(plain(node), {"ticket": "t"}, seed="case-1")

    with target_session(tmp_path) as session:
        with frozen_clock("2026-01-05T09:00:00Z"):
            run = await both(session, make, lambda text, _: text)
        later = await session.replay(make("http://127.0.0.1:1"))

    assert "2026-01-05 09:00:00+00:00" in str(run.output["reply"])
    assert later.ended == "missed"
    assert not session.cassette.interactions[0].recorded_at.startswith("2026-01-05T09:00:00")


async def test_a_trial_stops_at_its_first_miss_even_if_the_target_swallows_it(tmp_path: Path) -> None:
    def asks(state: State) -> State:
        try:
            return {"reply": model("http://127.0.0.1:1").invoke("hello").content}
        except Exception:  # noqa: BLE001 - the mistake of a target
            return {"reply": "sorry"}

    graph = plain(asks)
    graph.add_node("next", lambda _: {"reply": "sent"})
    graph.add_edge("node", "next")
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(graph, {"ticket": "t"}))

    assert (run.ended, run.output, names(run)) == ("missed", {}, ["node"])
    assert str(run.error).startswith("not recorded: ")


async def leaving_async(_: State) -> State:
    raise SystemExit(4)


async def test_a_target_that_exits_in_its_event_loop_is_told_and_stops_no_other(tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(plain(leaving_async), {"ticket": "t"}, timeout=20))
        after = await session.replay(TargetCall(plain(), {"ticket": "t"}, timeout=20))

    assert (run.ended, run.error) == ("failed", "SystemExit: 4 (node node)")
    assert after.ended == "finished"


async def test_a_graph_without_a_store_gets_one_of_its_own_for_each_run(tmp_path: Path) -> None:
    async def node(state: dict[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
        before = len(await runtime.store.asearch(("notes",)))
        await runtime.store.aput(("notes",), "one", {"text": "kept"})
        return {"said": before}

    builder = StateGraph(dict)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    with target_session(tmp_path) as session:
        runs = [await session.replay(TargetCall(builder.compile(), {})) for _ in range(2)]

    assert [run.output for run in runs] == [{"said": 0}, {"said": 0}]
