"""Faults found by setting up graphs of strangers: each command says what is wrong, and what to do about it."""

import json

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals, live_model, pytest_at_once, script_at_once

pytestmark = pytest.mark.slow

SEARCH = """
import requests
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph


def search(state: MessagesState):
    answer = ChatOpenAI(model="small").invoke(state["messages"])
    requests.post("https://search.example/find", json={"q": "whales"}, timeout=1)
    return {"messages": [answer]}


graph = StateGraph(MessagesState).add_node(search).set_entry_point("search").set_finish_point("search").compile()
"""
NOTES = """
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph
from langgraph.store.base import BaseStore


def remember(state: MessagesState, *, store: BaseStore):
    store.put(("notes",), "1", {"text": "the user likes whales"})
    store.put(("notes",), "2", {"text": "the sky is blue"})
    found = store.search(("notes",), query="whales", limit=1)
    return {"messages": [("ai", f"{found[0].value['text']} ({found[0].score is not None})")]}


graph = StateGraph(MessagesState).add_node(remember).set_entry_point("remember").compile()


def embed(texts):
    return [[float("whale" in text), 1.0] for text in texts]
"""
BY_HAND = """
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph


@tool
def weather(city: str) -> str:
    "The weather of a city."
    return f"sunny in {city}"


@tool
async def tides(city: str) -> str:
    "The tides of a city."
    return f"low in {city}"


async def ask(state: MessagesState):
    found = ChatOpenAI(model="small").bind_tools([weather, tides]).invoke(state["messages"])
    called = found.tool_calls[0]["args"]
    told = weather.func(called["city"]) + await tides.coroutine(**called)
    return {"messages": [found, ("ai", told + weather.invoke({"city": "Oslo"}))]}


graph = StateGraph(MessagesState).add_node(ask).set_entry_point("ask").compile()
"""


def project_of(folder, code, **more):
    write(folder / "agent.py", code)
    write(folder / "langgraph.json", json.dumps({"graphs": {"a": "./agent.py:graph"}, **more}))
    code, said = evals(folder, "init", OPENAI_API_KEY="none")
    assert code == 0, said
    return folder


def test_a_run_says_why_the_last_recording_failed_until_it_succeeds(tmp_path):
    project = project_of(tmp_path, SEARCH)
    with live_model(lambda *_: "yes") as model:
        code, said = evals(project, "record", "first", **model)
        assert (code, "run it again" in said) == (3, False), said
        assert said.splitlines()[-1].endswith(
            "see above and mend that; the same command asks only for what is missing or failed"
        )
        code, said = evals(project, "run", "first")
        assert code == 3
        assert "(the last recording failed: the graph fails with these answers (POST search.example/find" in said
        write(project / "agent.py", SEARCH.replace("    requests.post", "    #"))
        assert evals(project, "record", "first", **model)[0] == 0
    assert "the last recording failed" not in evals(project, "run", "first")[1]


def test_a_folder_without_settings_is_told_to_set_them_up(tmp_path):
    write(tmp_path / "agent.py", SEARCH)
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"a": "./agent.py:graph"}}))
    code, said = evals(tmp_path, "run", "first")
    assert (code, said.count("\n"), "evals init" in said) == (2, 1, True), said


def test_the_store_searches_by_the_index_that_langgraph_json_names(tmp_path):
    project = project_of(tmp_path, NOTES, store={"index": {"embed": "./agent.py:embed", "dims": 2}})
    write(project / "evaluation/cases/example.yaml", "inputs: {messages: []}\n")
    assert evals(project, "record", "first")[0] == 0
    evals(project, "run", "first")
    assert "likes whales (True)" in (project / "reports/latest/run.json").read_text()


def test_an_index_of_the_store_that_cannot_be_made_is_one_line(tmp_path):
    project = project_of(tmp_path, NOTES, store={"index": {"embed": "./agent.py:missing", "dims": 2}})
    code, said = evals(project, "record", "first")
    assert (code, "langgraph.json: store.index cannot be used (AttributeError" in said) == (3, True), said


def test_a_tool_that_a_node_calls_as_a_function_is_a_step_with_its_arguments(tmp_path):
    project = project_of(tmp_path, BY_HAND)
    with live_model(lambda *_: [("weather", {"city": "Rome"})]) as model:
        code, said = evals(project, "record", "first", **model)
    assert (code, "ask weather tides weather (" in said) == (0, True), said
    evals(project, "run", "first")
    steps = json.loads((project / "reports/latest/run.json").read_bytes())["trials"][0]["trace"]["visits"]
    assert [step.get("arguments") for step in steps[1:]] == [{"city": "Rome"}, {"city": "Rome"}, {"city": "Oslo"}]


def test_a_forced_choice_that_makes_the_graph_fail_is_a_result(tmp_path):
    from tests.builders.planted_mistakes import GRAPH, a_project, err

    project = a_project(tmp_path / "project", kinds=("edge",))
    failing = GRAPH.replace(
        "[*state.get",
        "1 / 0 if (name, state['task'], state.get('done')) == ('look', 'skip@1', None) else [*state.get",
        1,
    )
    write(project / "chain.py", failing)
    with live_model(err) as model:
        code, said = evals(project, "record", "row", **model)
        assert code == 0, said
        code, said = evals(project, "record", "row", "--forced", **model)
        assert (code, "run it again" in said) == (0, False), said
    evals(project, "run", "row", "--decisive")
    tried = [
        each
        for trial in json.loads((project / "reports/latest/run.json").read_bytes())["trials"]
        for each in trial.get("decisive", {}).get("tried", ())
    ]
    assert not [each for each in tried if each["result"] == "not recorded"]


def test_lines_of_a_pipe_are_not_padded(tmp_path):
    project = copied("support", tmp_path)
    for words in (("explain", "charged-twice", "--suite", "router"), ("run", "router")):
        said = evals(project, *words)[1]
        assert [line for line in said.splitlines() if line != line.rstrip()] == []


def test_a_pack_that_cannot_be_used_is_told_where_its_commands_are_missing(tmp_path):
    write(tmp_path / "evals.toml", 'pack = "nosuch.pack"\n')
    code, said = evals(tmp_path, "--help")
    assert (code, "pack nosuch.pack: no module nosuch" in said, "its commands are missing" in said) == (0, True, True)
    code, said = evals(tmp_path, "own")
    assert (code, "its commands are missing" in said) == (2, True), said


OWN = '''
from evals import scorer
from quality.words import GOOD


@scorer("reply.good", primary=True)
def good(case, trace) -> bool:
    """Whether the reply is good."""
    return GOOD in trace.output["messages"][-1]["content"]
'''


def test_scorers_are_a_module_below_src_where_the_graph_is_too(tmp_path):
    project = project_of(tmp_path, SEARCH.replace("    requests.post", "    #"))
    write(project / "src/quality/checks.py", OWN)
    write(project / "src/quality/words.py", 'GOOD = "yes"\n')
    settings = (project / "evals.toml").read_text()
    write(project / "evals.toml", f'{settings}scorers = ["quality.checks"]\n')
    with live_model(lambda *_: "yes") as model:
        assert evals(project, "record", "first", **model)[0] == 0
    assert evals(project, "bless", "first")[0] == 0
    code, said = evals(project, "run", "first")
    assert (code, "reply.good" in said) == (0, True), said
    assert "p (Holm)" not in (project / "reports/latest/summary.md").read_text()  # a table without a row

    write(project / "src/quality/words.py", 'GOOD = "no"\n')
    code, said = evals(project, "run", "first")
    assert (code, "the scorers have changed" in said) == (3, True), said

    write(project / "evals.toml", f'{settings}scorers = ["nosuch.checks"]\n')
    code, said = evals(project, "run", "first")
    assert (code, said.count("\n")) == (2, 1), said
    assert (
        "evals.toml: scorers nosuch.checks cannot be imported (ModuleNotFoundError: No module named 'nosuch')" in said
    )


TESTS = """
import pytest
from evals.errors import CannotJudgeError


def test_a_step(replayed):
    trial = replayed("example")
    assert trial.trace.route == ("search",)
    assert trial.trace.output["messages"][-1]["content"] == "yes"


def test_another(replayed):
    with pytest.raises(CannotJudgeError, match="evals record first --case other"):
        replayed("other", variant="current", suite="first").trace
"""


def test_a_test_of_ones_own_replays_a_trial_of_ones_own_graph(tmp_path):
    project = project_of(tmp_path, SEARCH.replace("    requests.post", "    #"))
    with live_model(lambda *_: "yes") as model:
        assert evals(project, "record", "first", **model)[0] == 0
    write(project / "evaluation/cases/other.yaml", "inputs: {messages: [{role: user, content: other}]}\n")
    write(project / "tests/test_graph.py", TESTS)
    write(
        project / "tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef own(replayed):\n    return replayed\n"
    )
    code, said, _ = pytest_at_once(project, "-q", "tests")
    assert code == 0, said


def test_a_script_names_the_root_of_a_project_as_a_text(tmp_path):
    project = project_of(tmp_path / "own", SEARCH)
    script = tmp_path / "script.py"
    words = f"RunRequest('first', {str(project)!r})"
    write(
        script, f"import evals\n\nif __name__ == '__main__':\n    print(evals.run(evals.{words}).run.verdict.status)\n"
    )
    code, out, err = script_at_once(script, tmp_path)
    assert (code, out) == (0, "cannot judge\n"), err


def test_a_folder_below_a_project_is_told_where_the_settings_are(tmp_path):
    project = project_of(tmp_path, SEARCH)
    (project / "tests").mkdir()
    code, said = evals(project / "tests", "run", "first")
    assert (code, said.count("\n"), f"evals.toml is in {project}" in said) == (2, 1, True), said


READER = """
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def read_notes() -> str:
    "Read the notes."
    return open("notes.txt").read()


graph = create_agent(ChatOpenAI(model="small"), [read_notes])
"""


def test_a_tool_that_gave_another_result_is_named_as_the_cause_of_a_miss(tmp_path):
    project = project_of(tmp_path, READER)
    write(project / "notes.txt", "all is well\n")

    def say(_, body):
        return "done" if body["messages"][-1]["role"] == "tool" else [("read_notes", {})]

    with live_model(say) as model:
        assert evals(project, "record", "first", **model)[0] == 0
    write(project / "notes.txt", "nothing is well\n")
    code, said = evals(project, "plan", "first")
    assert (code, "tool result changed: read_notes ran for real; " in said) == (3, True), said
    assert "`tools` under [target] in evals.toml records results" in said
    assert "price unknown (small not in the price table" in said


def test_a_folder_without_langgraph_json_is_told_where_one_is_or_what_to_write(tmp_path):
    code, said = evals(tmp_path, "init")
    assert (code, said.count("\n")) == (2, 1), said
    assert 'langgraph.json: there is none; write {"graphs": {"agent": "./agent.py:graph"}}' in said
    write(tmp_path / "backend/langgraph.json", "{}")
    code, said = evals(tmp_path, "init")
    assert (code, "langgraph.json: there is one in backend: go there" in said) == (2, True), said


def test_init_calls_the_only_variant_current(tmp_path):
    project = project_of(tmp_path, SEARCH)
    assert "- {name: current}" in (project / "evaluation/suites/first.yaml").read_text()
    assert "Cannot judge current: " in evals(project, "run", "first")[1]


ASKS_FOR_EVER = """
from typing import TypedDict
from langgraph.graph import StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict):
    ticket: str


def ask(state: State):
    while interrupt("approve the refund?") != "no":
        pass
    return {"ticket": "done"}


graph = StateGraph(State).add_node(ask).set_entry_point("ask").set_finish_point("ask").compile()
"""


def test_a_graph_that_interrupts_itself_for_ever_is_ended_and_its_interrupt_is_named(tmp_path):
    project = project_of(tmp_path, ASKS_FOR_EVER)
    write(project / "evaluation/cases/example.yaml", 'inputs: {ticket: money}\nanswers: {"*": "yes"}\n')

    code, said = evals(project, "record", "first")
    assert code == 3
    assert (
        "no end after 50 interrupts; the last asks 'approve the refund?': "
        "answer it otherwise, or raise `interrupt_limit` under [target] in evals.toml"
    ) in said, said

    write(project / "evals.toml", "[target]\ninterrupt_limit = 2\n")
    assert "no end after 2 interrupts" in evals(project, "record", "first")[1]


ENTRYPOINT = """
from langgraph.func import entrypoint, task


@task
def shout(text: str, times: int) -> str:
    return text.upper() * times


@entrypoint()
def graph(inputs: dict) -> dict:
    return {"text": shout(inputs["text"], inputs.get('times', 1)).result()}
"""


def test_the_first_case_of_an_entrypoint_has_the_keys_that_its_code_reads(tmp_path):
    project = project_of(tmp_path, ENTRYPOINT)
    assert 'inputs: {"text": "...", "times": "..."}' in (project / "evaluation/cases/example.yaml").read_text()


def test_inputs_that_nothing_names_are_to_be_filled_in(tmp_path):
    project = project_of(tmp_path, ENTRYPOINT.replace("inputs[\"text\"], inputs.get('times', 1)", "*inputs.values()"))
    assert "inputs: {}  # fill in: " in (project / "evaluation/cases/example.yaml").read_text()


def test_drift_of_a_graph_whose_answers_are_all_free_text_has_nothing_to_compare(tmp_path):
    project = project_of(tmp_path, SEARCH.replace("    requests.post", "    #"))
    with live_model(lambda *_: "yes") as model:
        assert evals(project, "record", "first", **model)[0] == 0
        code, said = evals(project, "drift", "first", **model)
    assert (code, said.count("\n")) == (3, 1), said
    assert "all recorded answers are free text; drift compares those to tools and schemas" in said


APPROVED = """
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph
from langgraph.types import interrupt


@tool
def refund(amount: int) -> str:
    "Refund the money."
    return f"refunded {amount}: {interrupt({'approve': amount})}"


helper = create_agent(ChatOpenAI(model="small"), [refund], name="helper")
graph = StateGraph(MessagesState).add_node("desk", helper).set_entry_point("desk").compile()
"""


def test_a_tool_that_asks_for_approval_is_one_step_and_replays(tmp_path):
    project = project_of(tmp_path, APPROVED)
    case = 'inputs: {messages: [{role: user, content: money}]}\nanswers: ["yes"]\n'
    write(project / "evaluation/cases/example.yaml", case)

    def say(_, body):
        return "done" if body["messages"][-1]["role"] == "tool" else [("refund", {"amount": 5})]

    with live_model(say) as model:
        code, said = evals(project, "record", "first", **model)
    assert code == 0, said
    evals(project, "run", "first")
    trace = json.loads((project / "reports/latest/run.json").read_bytes())["trials"][0]["trace"]
    assert [step["node"] for step in trace["visits"]].count("refund") == 1
    assert "refunded 5: yes" in json.dumps(trace["output"])
