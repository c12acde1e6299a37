"""Trials of a target that are recorded, and proven, while others run; the target waits where a test wants it to."""

import json
from collections import Counter, defaultdict
from contextlib import contextmanager
from threading import Event

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import evals
from tests.builders.http_server import Handler, running
from tests.builders.model_server import model_server

pytestmark = pytest.mark.slow

GRAPH = '''
"""A clerk that makes its model and reads its prompt only when it is asked."""

import os
from pathlib import Path
from urllib.request import urlopen

from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph

PROMPT = Path(__file__).resolve().parent / "prompts" / "clerk.md"


def clerk(state: MessagesState, config):
    urlopen(f"{os.environ['STOPS']}/{config['configurable']['who']}/{state['messages'][0].content}").read()
    return {"messages": [ChatOpenAI(model="small").invoke([("system", PROMPT.read_text()), *state["messages"]])]}


builder = StateGraph(MessagesState)
builder.add_node(clerk)
builder.add_edge("__start__", "clerk")
builder.add_edge("clerk", "__end__")
graph = builder.compile()
'''
NOW = "{name: now, config: {who: now}}"
TUNED = "{name: tuned, config: {who: tuned}, prompts: {clerk: tuned.md}}"


@pytest.fixture
def project(tmp_path):
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"desk": "./desk.py:graph"}}))
    write(tmp_path / "desk.py", GRAPH)
    write(tmp_path / "prompts" / "clerk.md", "first clerk")
    write(tmp_path / "tuned.md", "tuned clerk")
    write(tmp_path / "evals.toml", '[target]\nprompts = ["prompts/*.md"]\n')
    return tmp_path


@contextmanager
def stops(waits):
    """A URL where each run of a trial stops: `now/one 2` is the second of case `one` under `now`, its proof. `waits`
    says which run goes on only when which other one has come."""
    came, counts = defaultdict(Event), Counter()

    class Stop(Handler):
        def do_GET(self):
            place = self.path.strip("/")
            counts[place] += 1
            name = f"{place} {counts[place]}"
            came[name].set()
            assert name not in waits or came[waits[name]].wait(60), f"{waits[name]} never came"
            self.answer(200, b"")

    with running(Stop) as server:
        yield server.url


def recorded(project, cases, variants, waits, at_once=2):
    """The system prompt of each request, after a recording of so many trials at once."""
    for case in cases:
        write(project / f"evaluation/cases/{case}.yaml", f"inputs: {{messages: [{{role: user, content: {case}}}]}}\n")
    write(project / "evaluation/suites/first.yaml", "variants:\n" + "".join(f"  - {one}\n" for one in variants))
    with model_server(lambda *_: "hi") as (url, bodies), stops(waits) as stop:
        variables = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "STOPS": stop}
        words = ("record", "first", "--recorded-by", "tests", "--set", f"concurrency={at_once}")
        code, said = evals(project, *words, **variables)
    assert code == 0, said
    return sorted(body["messages"][0]["content"] for body in bodies)


def test_a_trial_asks_its_endpoint_while_another_is_proven_with_the_variables_of_the_recording(project):
    recorded(project, ["before"], [NOW], {})  # variables are kept with the first answers
    waits = {"tuned/one 1": "now/one 2", "now/one 2": "now/two 1"}

    assert recorded(project, ["one", "two"], [NOW, TUNED], waits).count("first clerk") == 2


def test_a_trial_reads_the_prompt_of_its_variant_also_after_another_has_ended(project):
    waits = {"tuned/one 1": "tuned/two 1", "tuned/two 1": "now/two 1", "now/one 1": "now/two 1"}
    expected = ["first clerk", "tuned clerk"] * 2

    assert recorded(project, ["one", "two"], [TUNED, NOW], waits, at_once=3) == sorted(expected)


def test_a_variable_that_the_target_sets_when_it_is_imported_stays_set_for_all_its_trials(project):
    """As `load_dotenv` does."""
    code = GRAPH.replace("PROMPT = ", "os.environ['TONE'] = 'kind'\nPROMPT = ", 1)
    write(project / "desk.py", code.replace("PROMPT.read_text()", "os.environ['TONE']"))

    assert recorded(project, ["one", "two"], [NOW], {}) == ["kind", "kind"]
    with stops({}) as stop:
        code, said = evals(project, "run", "first", "--jobs", "1", "--fresh", STOPS=stop)
    assert "now 2/2" in " ".join(said.split()), said
