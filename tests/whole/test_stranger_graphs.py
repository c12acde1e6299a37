"""Graphs as strangers write them, from `init` to a replay: the functional API, and middleware without async methods."""

import json
import re

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import ROOT, evals, evals_of, live_model

pytestmark = pytest.mark.slow

ESSAY = """
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task

llm = ChatOpenAI(model="small")


@task
def outline(topic: str) -> str:
    return llm.invoke(topic).content


@entrypoint(checkpointer=InMemorySaver())
def graph(topic: str) -> dict:
    return {"essay": outline(topic).result()}
"""
AGENT = """
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.tools import tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> str:
    "The weather of a city."
    return "sunny"


@wrap_tool_call
def careful(request, handler):
    return handler(request)


graph = create_agent(ChatOpenAI(model="small"), [weather], middleware=[careful])
"""

TRANSLATOR = """
from dataclasses import dataclass
from pathlib import Path

import anthropic
from langgraph.graph import StateGraph

client = anthropic.Anthropic()


@dataclass
class State:
    text: str
    translation: str = ""


def translate(state: State):
    system, asked = Path("prompts/translate.txt").read_text(), [{"role": "user", "content": state.text}]
    with client.messages.stream(model="claude-x", max_tokens=9, system=system, messages=asked) as stream:
        return {"translation": "".join(stream.text_stream)}


graph = StateGraph(State).add_node(translate).set_entry_point("translate").set_finish_point("translate").compile()
"""

CREW = """
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph

CREW = set("Ann Bob Cem Dora Eve Fay Gus Hal".split())


def answer(state: MessagesState):
    asked = [("system", f"You may ask {', '.join(CREW)}."), *state["messages"]]
    return {"messages": [ChatOpenAI(model="small").invoke(asked)]}


graph = StateGraph(MessagesState).add_node(answer).set_entry_point("answer").compile()
"""

SESSION = """
import uuid

from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph

SESSION = uuid.uuid4().hex


def answer(state: MessagesState):
    asked = [("system", f"Session {SESSION}."), *state["messages"]]
    return {"messages": [ChatOpenAI(model="small").invoke(asked)]}


graph = StateGraph(MessagesState).add_node(answer).set_entry_point("answer").compile()
"""


def started(folder, code, *words):
    """A project that `init` has set up, with the case that it wrote."""
    write(folder / "agent.py", code)
    write(folder / "langgraph.json", json.dumps({"graphs": {"a": "./agent.py:graph"}}))
    code, said = evals(folder, "init", *words, OPENAI_API_KEY="none")
    assert code == 0, said
    return folder, (folder / "evaluation/cases/example.yaml").read_text(encoding="utf-8")


def test_an_entrypoint_that_takes_a_text_gets_the_one_value_of_its_inputs(tmp_path):
    project, case = started(tmp_path, ESSAY)
    assert 'inputs: {"input": "..."}' in case
    write(
        project / "evaluation/cases/example.yaml",
        case.replace('"..."', "whales") + "\nexpected: {essay: {equal: ok}}\n",
    )
    with live_model(lambda texts, _: "ok" if '"whales"' in texts else "no") as model:
        code, said = evals(project, "record", "first", **model)
    assert (code, "1 of 1 trials replay exactly" in said) == (0, True), said
    assert "100 % (1/1)" in evals(project, "run", "first")[1]


def test_an_edited_text_file_that_is_the_system_prompt_of_anthropics_sdk_is_named_with_its_line(tmp_path):
    write(tmp_path / "prompts/translate.txt", "You translate to French.\n")
    project, _ = started(tmp_path, TRANSLATOR, "--prompts", "prompts/*.txt")
    with live_model(lambda *_: "un") as model:
        url = model["OPENAI_BASE_URL"].removesuffix("/v1")
        code, said = evals(project, "record", "first", ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="none")
    assert (code, "1 of 1 trials replay exactly" in said) == (0, True), said

    write(project / "prompts/translate.txt", "You translate to French.\nBe brief.\n")
    code, said = evals(project, "plan", "first")
    assert (code, "prompt edited: prompts/translate.txt:2" in said) == (3, True), said


def test_middleware_without_async_methods_is_run_synchronously_where_the_settings_say_so(tmp_path):
    def say(_, body):
        return "It is sunny." if body["messages"][-1]["role"] == "tool" else [("weather", {"city": "Rome"})]

    project, _ = started(tmp_path, AGENT)
    with live_model(say) as model:
        code, said = evals(project, "record", "first", **model)
        assert (code, "set `synchronous = true` under [target] in evals.toml" in said) == (3, True), said

        settings = project / "evals.toml"
        write(settings, settings.read_text(encoding="utf-8") + "synchronous = true\n")
        code, said = evals(project, "record", "first", **model)
    assert (code, "model tools weather model" in said) == (0, True), said
    assert "1/1" in evals(project, "run", "first")[1]


def test_a_set_in_a_prompt_has_the_same_order_in_every_process(tmp_path):
    project, _ = started(tmp_path, CREW)
    with live_model(lambda *_: "ok") as model:
        codes, said = evals_of(ROOT, project, "record first", **model)
    assert (codes, "1 of 1 trials replay exactly" in said) == ([0], True), said
    assert "1/1" in evals_of(ROOT, project, "run first")[1]


def test_a_number_drawn_at_import_is_the_same_in_every_process(tmp_path):
    project, _ = started(tmp_path, SESSION)
    with live_model(lambda *_: "ok") as model:
        code, said = evals(project, "record", "first", **model)
    assert (code, "1 of 1 trials replay exactly" in said) == (0, True), said


def test_a_request_that_differs_in_each_process_is_told_with_the_words_that_differ(tmp_path):
    project, _ = started(tmp_path, SESSION.replace("uuid.uuid4().hex", "f'no {__import__(\"os\").getpid()}'"))
    with live_model(lambda *_: "ok") as model:
        code, said = evals(project, "record", "first", **model)
    assert code == 3, said
    assert re.search(r"\(messages\[0\]\.content: '\d+\.' became '\d+\.'\)", said), said
    assert "take that from the inputs" in said
