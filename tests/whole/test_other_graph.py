"""A project with a LangGraph graph of its own: record, run, bless and edit, as its team would."""

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import evals, evals_of, live_model, pytest_at_once, the_core
from tests.builders.model_server import model_server

pytestmark = pytest.mark.slow

GRAPH = '''
"""A router sends a ticket to billing, which asks a person, or to technical help."""

from pathlib import Path
from typing import Literal, TypedDict

from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

model = ChatOpenAI(model="small")
PROMPTS = Path(__file__).parent / "prompts"


class State(TypedDict, total=False):
    ticket: str
    reply: str


async def router(state: State, config: RunnableConfig) -> Command[Literal["billing", "technical"]]:
    prompt = (PROMPTS / f"{config['configurable']['prompt']}.md").read_text()
    answer = await model.ainvoke([("system", prompt), ("user", state["ticket"])])
    return Command(goto=answer.content)


def billing(state: State) -> State:
    approved = interrupt({"ask": "approve the refund?"})
    answer = model.invoke([("system", "reply about billing"), ("user", f"{state['ticket']} approved: {approved}")])
    return {"reply": answer.content}


def technical(state: State) -> State:
    return {"reply": model.invoke([("system", "reply"), ("user", state["ticket"])]).content}


builder = StateGraph(State)
builder.add_node(router)
builder.add_node(billing)
builder.add_node(technical)
builder.add_edge(START, "router")
builder.add_edge("billing", END)
builder.add_edge("technical", END)
graph = builder.compile()
'''
SETTINGS = """
[target]
routers = ["router"]
output = ["reply"]
prompts = ["support/prompts/*.md"]
"""
SUITE = """
variants:
  - {name: v1, config: {prompt: v1}}
  - {name: v2, config: {prompt: v2}}
"""
CASE = """
inputs: {{ticket: "{ticket}"}}
answers: ["yes"]
route:
  constraints: [{{id: {node}, type: existence, a: [{node}], min: 1, hard: true}}]
expected: {{reply: {{contains: ["{word}"]}}}}
"""


def answer(_texts: str, body: Mapping[str, Any]) -> str:
    """Routes by the word "money"; the prompt "careless" sends every ticket to technical help."""
    system, ticket = body["messages"][0]["content"], body["messages"][-1]["content"]
    if "route" in system:
        return "billing" if "money" in ticket and "careless" not in system else "technical"
    return f"{'refund' if 'billing' in system else 'help'}: {ticket}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a graph, two prompts and 13 cases."""
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"support": "./support/graph.py:graph"}}))
    write(tmp_path / "support" / "graph.py", GRAPH)
    write(tmp_path / "support" / "prompts" / "v1.md", "route the ticket\n")
    write(tmp_path / "support" / "prompts" / "v2.md", "route the ticket, careless\n")
    write(tmp_path / "evals.toml", SETTINGS)
    write(tmp_path / "evaluation" / "suites" / "first.yaml", SUITE)
    for number in range(12):
        told = {"ticket": f"I want my money back for order {number}", "node": "billing", "word": "refund"}
        write(tmp_path / "evaluation" / "cases" / f"refund-{number}.yaml", CASE.format(**told))
    crash = {"ticket": "it crashes", "node": "technical", "word": "help"}
    write(tmp_path / "evaluation" / "cases" / "crash.yaml", CASE.format(**crash))
    return tmp_path


def test_a_graph_of_another_project_is_recorded_judged_and_watched(project):
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "evals record first" in said) == (3, True), said
    assert str(project) not in (project / "reports" / "latest" / "run.json").read_text()

    with live_model(answer) as live:
        code, said = evals(project, "record", "first", "--recorded-by", "tests", **live)
    assert code == 0, said
    assert "26 of 26 trials replay exactly" in said

    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "v2 is worse than v1: output.expected -92 points" in said) == (3, True), said

    code, said = evals(project, "bless", "first", "--jobs", "1")
    assert (code, "--worse" in said) == (2, True), said
    assert evals(project, "bless", "first", "--jobs", "1", "--worse", "to see it red")[0] == 0
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "v2 is worse than v1: output.expected -92 points" in said) == (1, True), said

    run = json.loads((project / "reports" / "latest" / "run.json").read_bytes())
    refund = [t["trace"] for t in run["trials"] if t["trace"]["case_id"] == "refund-0"]
    assert [[visit["node"] for visit in trace["visits"]] for trace in refund] == [
        ["router", "billing"],
        ["router", "technical"],
    ]
    assert refund[0]["output"] == {"reply": "refund: I want my money back for order 0 approved: yes"}
    assert [trace["decisions"][0]["chosen"] for trace in refund] == ["billing", "technical"]

    (project / "support" / "prompts" / "v2.md").write_text("route the ticket, careless\nBe kind.\n")
    code, said = evals(project, "plan", "first", "--jobs", "1")
    assert code == 3
    assert "prompt edited: support/prompts/v2.md:2" in said


def test_one_variant_is_watched_against_its_baseline(project):
    write(project / "evaluation" / "suites" / "first.yaml", "variants: [{name: v1, config: {prompt: v1}}]\n")
    with live_model(answer) as live:
        assert evals(project, "record", "first", "--recorded-by", "tests", **live)[0] == 0
    assert evals(project, "run", "first", "--jobs", "1")[0] == 3
    assert evals(project, "bless", "first", "--jobs", "1")[0] == 0
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "is not shown to be worse than its baseline over 13 cases" in said) == (0, True), said


def recorded(project: Path) -> None:
    """Record the suite with one variant, which says nothing of its prompt."""
    graph = (project / "support" / "graph.py").read_text().replace("['prompt']", ".get('prompt', 'v1')")
    write(project / "support" / "graph.py", graph)
    write(project / "support" / "words.txt", "one\n")
    write(project / "evaluation" / "suites" / "first.yaml", "variants: [{name: now}]\n")
    with live_model(answer) as live:
        assert evals(project, "record", "first", "--recorded-by", "tests", **live)[0] == 0


def test_a_trial_is_not_reused_when_a_file_of_the_target_has_changed(project):
    """Also a prompt that no variant names, and a file of which only the graph knows."""
    recorded(project)
    run = ("run", "first", "--jobs", "1")
    evals(project, *run)
    assert "13 reused unchanged" in evals(project, *run)[1]
    for edited in ("support/prompts/v1.md", "support/words.txt", "support/graph.py", "evals.toml"):
        with (project / edited).open("a") as file:
            file.write("\n# changed\n")
        assert " 0 reused unchanged" in evals(project, *run)[1], edited
    assert "13 reused unchanged" in evals(project, *run)[1]


def test_trials_side_by_side_share_environment_and_folder_of_the_target(project):
    """The first one that ends must not take them from the others."""
    graph = (project / "support" / "graph.py").read_text()
    reads = "    assert os.environ['TEAM'] == 'support'\n    assert Path('support/words.txt').read_text() == 'one\\n'\n"
    for node in ("billing", "technical"):
        graph = graph.replace(f"def {node}(state: State) -> State:\n", f"def {node}(state: State) -> State:\n{reads}")
    write(project / "support" / "graph.py", graph.replace("from pathlib", "import os\nfrom pathlib"))
    told = {"graphs": {"support": "./support/graph.py:graph"}, "env": {"TEAM": "support"}}
    write(project / "langgraph.json", json.dumps(told))

    recorded(project)


SCORERS = '''
from evals import scorer


@scorer("reply.names_refund", primary=True)
def names_refund(case, trace):
    """Whether the reply names the refund."""
    return "refund" in trace.output["reply"]
'''


def test_a_project_brings_scorers_in_a_file_of_its_own(project, tmp_path_factory):
    write(project / "evaluation" / "scorers.py", SCORERS)
    write(project / "evals.toml", f'{SETTINGS}scorers = ["evaluation/scorers.py"]\nprimary = ["reply.names_refund"]\n')
    recorded(project)
    code, said = evals(project, "run", "first", "--jobs", "2")
    assert (code, "reply.names_refund" in said, "output.expected" in said) == (3, True, False), said
    assert evals(project, "bless", "first", "--jobs", "1")[0] == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    code, said = evals(elsewhere, "run", "first", "--jobs", "1", "--root", str(project))
    assert (code, "not shown to be worse than its baseline over 13 cases" in said) == (0, True), said
    code, said, _ = pytest_at_once(project, "-q", "--evals", "first")
    assert code == 0, said

    write(project / "evaluation" / "scorers.py", SCORERS.replace('trace.output["reply"]', "trace.output['reply'] * 2"))
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "the scorers have changed" in said, "13 reused unchanged" in said) == (3, True, True), said

    write(project / "evaluation" / "scorers.py", SCORERS.replace('["reply"]', '["answer"]'))
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "evaluation/scorers.py:8: KeyError: 'answer'" in said) == (3, True), said

    write(project / "evaluation" / "scorers.py", SCORERS.replace("evals", "nosuch"))
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, said.count("\n"), "evaluation/scorers.py:2: scorers" in said) == (2, 1, True), said


def test_the_core_alone_records_and_judges_another_graph(project, tmp_path_factory):
    core = the_core(tmp_path_factory.mktemp("core"))
    write(project / "evaluation" / "suites" / "first.yaml", "variants: [{name: v1, config: {prompt: v1}}]\n")
    with live_model(answer) as live:
        codes, said = evals_of(core, project, "record first --recorded-by tests", "bless first", "run first", **live)

    assert (codes, "13 trials" in said) == ([0, 0, 0], True), said


def test_a_project_is_set_up_by_one_command_and_never_overwritten(project):
    (project / "evals.toml").unlink()
    code, said = evals(project, "init", "--router", "router", "--prompts", "support/prompts/*.md")
    assert (code, "evals record first" in said) == (0, True), said
    assert "nodes: router, billing, technical" in (project / "evaluation" / "cases" / "example.yaml").read_text()
    assert (project / "evaluation" / "suites" / "first.yaml").read_text() == SUITE

    code, said = evals(project, "init")
    assert (code, said.count("\n"), "set up already" in said) == (2, 1, True)


TEMPLATE = """
import os
from dataclasses import dataclass
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from assistant.words import greeting

os.environ["SEARCH_API_KEY"]


@dataclass
class Context:
    model: str = "small"


async def choose(state: MessagesState, runtime: Runtime[Context]):
    answer = await ChatOpenAI(model=runtime.context.model).ainvoke([("system", greeting()), *state["messages"]])
    return {"messages": [answer]}


builder = StateGraph(MessagesState, context_schema=Context)
builder.add_node(choose)
builder.add_edge("__start__", "choose")
builder.add_conditional_edges("choose", lambda state: "__end__", ["choose", "__end__"])
graph = builder.compile()
"""


def test_a_template_is_set_up_and_recorded(tmp_path):
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"agent": "./src/assistant/graph.py:graph"}}))
    write(tmp_path / "src" / "assistant" / "graph.py", TEMPLATE)
    words = "from datetime import datetime\n\ndef greeting():\n    return f'It is {datetime.now()}'\n"
    write(tmp_path / "src" / "assistant" / "words.py", words)
    write(tmp_path / ".env.example", "SEARCH_API_KEY=...\n")
    write(tmp_path / "src" / "assistant" / "search.py", "from tavily import TavilyClient\n")

    code, said = evals(tmp_path, "init")
    assert (code, "Routers: choose." in said, "No git repository here" in said) == (0, True, True), said
    settings = tomllib.loads((tmp_path / "evals.toml").read_text())["target"]
    expected = {"graph": "agent", "routers": ["choose"], "clock": "2026-01-05T09:00:00Z", "context": True}
    assert settings == {**expected, "record": ["api.tavily.com"]}
    assert '# output = ["messages"]' in (tmp_path / "evals.toml").read_text()
    assert "src/assistant/words.py:4 reads the time" in (tmp_path / "evals.toml").read_text()
    assert "# config of this graph: model\n" in (tmp_path / "evaluation" / "suites" / "first.yaml").read_text()
    example = (tmp_path / "evaluation" / "cases" / "example.yaml").read_text()
    assert '{"messages": [{"role": "user", ' in example
    assert "#   messages[-1].content: {contains:" in example
    case = "inputs: {messages: [{role: user, content: hello}]}\n"
    write(tmp_path / "evaluation" / "cases" / "example.yaml", case)
    with model_server(lambda *_: "good day") as (url, _):
        live = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "SEARCH_API_KEY": "none"}
        code, refused = evals(tmp_path, "record", "first", "--base-url", "http://127.0.0.1:9/v1", **live)
        assert (code, "--base-url does not apply to a target" in refused) == (2, True), refused
        live["EVALS_BASE_URL"] = "http://127.0.0.1:9/v1"
        code, said = evals(tmp_path, "record", "first", "--recorded-by", "tests", **live)
    assert (code, "1 of 1 trials replay exactly" in said) == (0, True), said
    assert "EVALS_BASE_URL does not apply to a target" in said
    assert "new answers from the target's endpoint" in said
    assert "1/1" in evals(tmp_path, "run", "first", "--jobs", "1")[1]


CHAIN = """
from typing import TypedDict
from langgraph.graph import StateGraph

class Inputs(TypedDict, total=False):
    ticket: str
    urgent: bool

class State(Inputs):
    reply: str

def make(config):
    builder = StateGraph(State, input_schema=Inputs)
    builder.add_node("answer", lambda state: {"reply": "yes"})
    builder.add_edge("__start__", "answer")
    return builder.compile()
"""


def test_a_chain_without_routers_made_by_a_factory_is_set_up(tmp_path):
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"agent": "./agent.py:make"}}))
    write(tmp_path / "agent.py", CHAIN)
    code, said = evals(tmp_path, "init")

    assert (code, "No node chooses between next nodes" in said) == (0, True), said
    case = (tmp_path / "evaluation" / "cases" / "example.yaml").read_text()
    assert ('inputs: {"ticket": "...", "urgent": false}' in case, "nodes: answer" in case) == (True, True), case


def test_a_factory_that_needs_a_config_of_its_own_is_set_up_without_guesses(tmp_path):
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"agent": "./agent.py:make"}}))
    write(
        tmp_path / "agent.py", CHAIN.replace("    builder =", "    config['configurable']['tenant']\n    builder =", 1)
    )
    code, said = evals(tmp_path, "init")

    assert (code, "nodes, inputs and routers are not known" in said) == (0, True), said


@pytest.mark.parametrize(
    ("written", "words", "says"),
    [
        ("{", (), "is no JSON"),
        ("{}", (), "names no graph"),
        ('{"graphs": {"a": "./a.py:g", "b": "./b.py:g"}}', (), "choose one with --graph"),
        (None, ("--graph", "suport"), "did you mean 'support'?"),
        (None, ("--router", "rooter"), "has no such node; it has router, billing, technical"),
    ],
)
def test_what_keeps_a_project_from_being_set_up_is_one_line(project, written, words, says):
    (project / "evals.toml").unlink()
    if written is not None:
        write(project / "langgraph.json", written)
    code, said = evals(project, "init", *words)

    assert (code, said.count("\n"), says in said) == (2, 1, True), said
    assert not (project / "evals.toml").exists()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("[target]\nrooters = []\n", "did you mean 'routers'?"),
        ("[target]\nrouters = 3\n", "[target] routers"),
        ("pac = 'x'\n", "did you mean 'pack'?"),
        ("cases = 'nowhere'\n", "no folder 'nowhere' with cases"),
        ("not toml", "cannot be read"),
        ("[target]\ngraph = 'suport'\n", "did you mean 'support'?"),
    ],
)
def test_wrong_settings_are_one_line_that_says_what_to_do(project, settings, says):
    write(project / "evals.toml", settings)
    code, said = evals(project, "run", "first", "--jobs", "1")

    assert says in said
    assert "Traceback" not in said
    assert code in (2, 3)


AGENT = '''
"""An agent with a tool, whose model streams."""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


def weather(city: str) -> str:
    """The weather in a city."""
    return f"it rains in {city}"


graph = create_agent(ChatOpenAI(model="small", streaming=True), [weather], system_prompt="Help.", name="helper")
'''
ANSWERS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    assert asked["body"]["stream"] is True
    last = asked["body"]["messages"][-1]
    call = {"name": "weather", "arguments": json.dumps({"city": "Ulm"})}
    called = {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": call}]}
    told = {"content": f"Take care: {last['content']}"} if last["role"] == "tool" else called
    ended = "stop" if last["role"] == "tool" else "tool_calls"
    choice = {"index": 0, "message": {"role": "assistant", **told}, "finish_reason": ended}
    body = {"id": "x", "object": "chat.completion", "created": 1, "choices": [choice]}
    print(json.dumps({"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": body}}))
"""


def test_a_streaming_agent_is_recorded_by_batch_rounds_without_a_key(tmp_path):
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"agent": "./agent.py:graph"}}))
    write(tmp_path / "agent.py", AGENT)
    write(tmp_path / "answers" / "answer.py", ANSWERS)
    write(tmp_path / "evals.toml", '[target]\nrouters = ["helper"]\n')
    write(tmp_path / "evaluation" / "suites" / "first.yaml", "variants: [{name: now}]\n")
    case = "inputs: {messages: [{role: user, content: How is the weather in Ulm?}]}\n"
    write(tmp_path / "evaluation" / "cases" / "ulm.yaml", case)
    command = f"{sys.executable} answers/answer.py"
    words = ("--export", "rounds", "--answer-with", command, "--set", "model=rule-1", "--recorded-by", "tests")

    code, said = evals(tmp_path, "record", "first", *words)

    assert code == 0, said
    assert len(list((tmp_path / "rounds").glob("round-*"))) == 2, said
    code, said = evals(tmp_path, "run", "first", "--jobs", "1")
    assert "answered by rule-1" in said
    assert "no baseline" in said
    run = json.loads((tmp_path / "reports" / "latest" / "run.json").read_bytes())
    trace = run["trials"][0]["trace"]
    assert trace["output"]["messages"][-1]["content"] == "Take care: it rains in Ulm"
    assert [decision["chosen"] for decision in trace["decisions"]] == ["weather", "end"]


@pytest.fixture
def streaming(tmp_path):
    """A project whose model streams, recorded from an endpoint that `OPENAI_BASE_URL` names. LangChain asks for
    something else where that is not set."""
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"agent": "./agent.py:graph"}}))
    write(tmp_path / "agent.py", AGENT.replace("[weather]", "[]"))
    write(tmp_path / "evals.toml", "[target]\n")
    write(tmp_path / "evaluation" / "suites" / "first.yaml", "variants: [{name: now}]\n")
    write(tmp_path / "evaluation" / "cases" / "ulm.yaml", "inputs: {messages: [{role: user, content: hello}]}\n")
    with live_model(lambda *_: "good day") as live:
        code, said = evals(tmp_path, "record", "first", "--recorded-by", "tests", **live)
    assert code == 0, said
    return tmp_path


def test_a_stream_recorded_from_an_endpoint_of_its_own_is_replayed_without_its_address(streaming):
    assert "1/1" in evals(streaming, "run", "first", "--jobs", "1")[1]
    elsewhere = {"OPENAI_BASE_URL": "https://other.example/api", "OPENAI_API_KEY": "none"}
    assert "1/1" in evals(streaming, "run", "first", "--jobs", "1", "--fresh", **elsewhere)[1]
    kept = (streaming / "cassettes" / "environment.json").read_text()
    assert json.loads(kept) == {"OPENAI_BASE_URL": "http://recorded.invalid/v1"}


def test_more_is_not_recorded_with_another_kind_of_address(streaming):
    code, said = evals(streaming, "record", "first", "--refresh", "--recorded-by", "tests", OPENAI_API_KEY="none")

    assert (code, said.count("OPENAI_BASE_URL is "), "ulm now" in said) == (3, 1, False), said
