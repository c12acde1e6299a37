"""What `init` finds out of a graph: routers in subgraphs, and agents that hand over to each other."""

from typing import Literal, TypedDict

from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.types import Command

from evals.target.graph_guesses import code_uses, guess_settings


def done(_):
    return {}


def inner():
    builder = StateGraph(MessagesState).add_node("pick", done).add_node("left", done).add_node("right", done)
    builder.set_entry_point("pick").add_conditional_edges("pick", lambda _: "left", ["left", "right"])
    return builder.compile()


def test_routers_of_subgraphs_are_found():
    outer = StateGraph(MessagesState).add_node("work", inner()).set_entry_point("work").compile()
    assert guess_settings(outer).routers == ("pick",)
    assert {"work", "left"} <= set(guess_settings(outer).nodes)


def test_the_agents_of_a_swarm_are_routers_by_their_names():
    @tool
    def to_hotels() -> Command[Literal["hotels"]]:
        """Hand over."""
        return Command(goto="hotels", graph=Command.PARENT)

    class Model(FakeListChatModel):
        def bind_tools(self, *_, **__):
            return self

    flights = create_agent(Model(responses=[""]), [to_hotels], name="flights")
    hotels = create_agent(Model(responses=[""]), [to_hotels], name="hotels")
    swarm = StateGraph(MessagesState)
    swarm.add_node("flights", flights, destinations=("hotels",)).add_node("hotels", hotels)
    swarm.add_conditional_edges("__start__", lambda _: "flights", ["flights", "hotels"])
    assert guess_settings(swarm).routers == ("flights", "hotels")


def test_an_input_that_may_be_none_is_left_out_of_the_example():
    class State(TypedDict):
        question: str
        active: str | None

    assert guess_settings(StateGraph(State).add_node("a", done).set_entry_point("a").compile()).inputs == {
        "question": "..."
    }


def test_a_search_service_that_the_code_uses_is_found_with_file_and_line(tmp_path):
    tools = tmp_path / "tools.py"
    tools.write_text("import os\nfrom langchain_tavily import TavilySearch\n")
    assert code_uses([tools, tmp_path / "README.md"]) == {"api.tavily.com": (tools, 2)}


def test_clocks_of_other_libraries_and_in_nanoseconds_are_found(tmp_path):
    for number, code in enumerate(("time.time_ns()", "time.gmtime()", "pendulum.now('UTC')", "pd.Timestamp.now()")):
        file = tmp_path / f"{number}.py"
        file.write_text(code)
        assert "clock" in code_uses([file]), code
