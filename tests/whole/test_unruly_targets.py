"""Targets that print, change what belongs to the process, need variables, fail to import, hang, or end the process."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evals import import_limits
from evals.runner import worker_pool
from evals.target import recording_process
from tests.builders.dataset import write
from tests.builders.example_projects import evals, live_model

pytestmark = pytest.mark.slow

GRAPH = """
import os, random, sys, threading, time
from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph
{at_import}
model = ChatOpenAI(model="small")


def work(state: MessagesState):
    {in_node}
    return {{"messages": [model.invoke(state["messages"])]}}


builder = StateGraph(MessagesState)
builder.add_node(work)
builder.add_edge("__start__", "work")
builder.add_edge("work", "__end__")
graph = builder.compile()
"""


def a_project(folder: Path, at_import: str = "", in_node: str = "pass") -> Path:
    write(folder / "agent.py", GRAPH.format(at_import=at_import, in_node=in_node))
    write(folder / "langgraph.json", json.dumps({"graphs": {"a": "./agent.py:graph"}, "env": ".env"}))
    write(folder / "evals.toml", "[target]\n")
    write(folder / "evaluation/suites/first.yaml", "variants: [{name: now}]\n")
    write(folder / "evaluation/cases/one.yaml", "inputs: {messages: [{role: user, content: hello}]}\n")
    return folder


def recorded(project: Path, before: Callable[[], None] | None = None) -> str:
    with live_model(lambda *_: "hi there") as live:
        code, said = evals(project, "record", "first", "--recorded-by", "tests", before=before, **live)
    assert code == 0, said
    return said


FAILS = {
    "a syntax error": ("x = (", "pass", "agent.py:5: graph 'a' cannot be imported (SyntaxError"),
    "a package that is missing": ("import nosuch", "pass", "install what the project needs beside evals"),
    "a variable that is missing": ("os.environ['URL']", "pass", "(KeyError: 'URL'); set URL, in .env for one"),
    "an exit at import": ("sys.exit(0)", "pass", "graph 'a' cannot be imported (SystemExit: 0)"),
    "the end of the process at import": ("os._exit(0)", "pass", "with exit code 0: the code under test has ended it"),
    "an exit": ("", "sys.exit(4)", "SystemExit: 4 (node work)"),
    "a state of the wrong type": (
        "from pydantic import BaseModel\nclass Ticket(BaseModel): amount: int",
        "Ticket(amount='x')",
        "ValidationError: 1 validation error for Ticket amount Input should be a valid integer",
    ),
    "the end of the process": ("", "os._exit(0)", "with exit code 0: the code under test has ended it"),
    "a node that hangs": ("", "time.sleep(3600)", "no end after 3 s in node work"),
    "a question to the terminal": ("", "input()", "EOFError: EOF when reading a line (node work)"),
    "a vocabulary that tiktoken gets": (
        "import requests",
        "requests.get('https://openaipublic.blob.core.windows.net/encodings/x.tiktoken').raise_for_status()",
        "not let through; tiktoken reads it from the folder TIKTOKEN_CACHE_DIR if it is there, else name openaipublic.",
    ),
    "a tokenizer of Hugging Face": (
        "import requests",
        "requests.get('https://huggingface.co/api/x').raise_for_status()",
        "not let through; set HF_HUB_OFFLINE=1 once its files are in the cache, else name huggingface.co in",
    ),
    "a request of a thread of its own": (
        "",
        "t = threading.Thread(target=lambda: model.invoke('hi')); t.start(); t.join()",
        "sent outside of a trial, so it is not answered; start threads by",
    ),
}


@pytest.mark.parametrize(("at_import", "in_node", "says"), FAILS.values(), ids=FAILS)
def test_what_keeps_a_target_from_running_is_one_line_and_exit_code_3(at_import, in_node, says, tmp_path):
    project = a_project(tmp_path, at_import, in_node)
    code, said = evals(project, "run", "first", "--jobs", "1", "--set", "trial-timeout=3")

    assert (code, says in said.partition("\n")[0], "Traceback" in said) == (3, True, False), said


def test_a_slow_import_is_told_once_and_is_no_part_of_the_first_trial(tmp_path):
    project = a_project(tmp_path, "time.sleep(3.1)")
    says = r"evals: importing agent.py took \d\.\d s, before the first trial; no trial time limit counts it"

    code, said = evals(project, "run", "first", "--jobs", "1", "--set", "trial-timeout=3", before=impatient)
    assert (code, len(re.findall(says, said)), "not recorded" in said) == (3, 1, True), said
    assert len(re.findall(says, recorded(project, impatient))) == 1


def impatient():
    import_limits.SLOW = 3.0


def very_impatient():
    worker_pool.LONGEST_IMPORT = recording_process.LONGEST_IMPORT = 1.0


def test_a_hang_at_import_ends_every_command_after_the_same_time_in_one_line(tmp_path):
    project = a_project(tmp_path, "time.sleep(3600)")
    for name in ("two", "three"):
        write(project / f"evaluation/cases/{name}.yaml", "inputs: {messages: [{role: user, content: hello}]}\n")
    began = time.monotonic()
    for words, what in (
        (("run", "first", "--jobs", "1", "--set", "trial-timeout=100"), "agent.py"),
        (("points", "first", "--jobs", "1"), "agent.py"),
        (("record", "first", "--recorded-by", "tests"), "the graph"),
    ):
        with live_model(lambda *_: "hi there") as live:
            code, said = evals(project, *words, before=very_impatient, **live)
        says = f"importing {what} has not ended after 1 s: does it wait for something?"
        assert (code, said.count(says), "Traceback" in said) == (3, 1, False), said
    assert time.monotonic() - began < 30


def test_a_target_that_ends_its_process_does_not_end_the_recording(tmp_path):
    project = a_project(tmp_path, in_node="os._exit(0)")
    with live_model(lambda *_: "hi there") as live:
        code, said = evals(project, "record", "first", "--recorded-by", "tests", **live)

    assert (code, "the target has ended its process (exit code 0)" in said) == (3, True), said


def test_what_a_target_prints_is_in_a_file_of_its_own(tmp_path):
    loud = "print('out'); print('err', file=sys.stderr); os.write(1, b'raw\\n')"
    project = a_project(tmp_path, loud, loud)
    said = recorded(project) + evals(project, "run", "first", "--jobs", "2")[1]

    assert [word for word in ("out\n", "err\n", "raw\n") if word in said] == []
    assert {"out", "err", "raw"} <= set((project / ".cache" / "target.log").read_text().split())


def test_a_target_that_changes_its_process_replays(tmp_path):
    """Variables, folder and seed; a slow import; files relative to the root."""
    changes = "os.environ['X'] = str(len(os.environ)); os.chdir('/'); random.seed(3)"
    write(tmp_path / "words.txt", "hello\n")
    project = a_project(tmp_path, f"{changes}; os.chdir({str(tmp_path)!r}); open('words.txt').read()", changes)
    recorded(project)
    code, said = evals(project, "run", "first")
    assert (code, bool(re.search(r"^now +1/1", said, re.MULTILINE))) == (3, True), said


OUTLIVES = """
import pathlib, socket, threading, time


def report():
    while True:
        try:
            socket.getaddrinfo("telemetry.invalid", 443)
        except Exception as error:
            with open(pathlib.Path(__file__).with_name("tried.txt"), "a") as file:
                file.write(type(error).__name__ + "\\n")
        time.sleep(0.005)


threading.Thread(target=report, daemon=True).start()
"""


def test_a_thread_that_outlives_its_trial_is_not_let_through_either(tmp_path):
    """Exporters of traces send what they have seconds later."""
    project = a_project(tmp_path, OUTLIVES)
    for command in ("init", "record", "run"):
        (project / "tried.txt").unlink(missing_ok=True)
        if command == "init":
            (project / "evals.toml").unlink()
            assert evals(project, "init")[0] == 0
        elif command == "record":
            recorded(project)
        else:
            assert evals(project, "run", "first", "--jobs", "2")[0] == 3
        assert {*(project / "tried.txt").read_text().splitlines()} == {"NotLetThroughError"}, command


AT_IMPORT = """
import requests


requests.get("http://vocabulary.example/words", timeout=1).raise_for_status()
"""


def test_a_connection_that_the_import_needs_is_named_with_its_setting(tmp_path):
    project = a_project(tmp_path, AT_IMPORT)
    (project / "evals.toml").unlink()
    code, said = evals(project, "init")
    assert (code, said.count("\n")) == (2, 1), said
    assert (
        "agent.py:9: graph 'a' cannot be imported (GET vocabulary.example/words: not let through; name "
        "vocabulary.example in `pass_through` of [target] in evals.toml, or `evals init --pass-through "
        "vocabulary.example`)"
    ) in said

    proxy = {"http_proxy": "http://127.0.0.1:9"}  # nobody is there: what is let through fails otherwise
    code, said = evals(project, "init", "--pass-through", "vocabulary.example", **proxy)
    assert (code, "ProxyError" in said) == (2, True), said
    write(project / "evals.toml", '[target]\npass_through = ["vocabulary.example"]\n')
    code, said = evals(project, "run", "first", **proxy)
    assert (code, "ProxyError" in said) == (3, True), said


def test_a_model_that_the_import_asks_is_named(tmp_path):
    project = a_project(tmp_path, "ChatOpenAI(model='small').invoke('hi')")
    code, said = evals(project, "run", "first", OPENAI_API_KEY="none")
    assert (code, "a model is asked while the graph is imported; ask it in a node" in said) == (3, True), said


def test_hosts_that_are_passed_through_at_import_are_settings_of_init(tmp_path):
    project = a_project(tmp_path)
    (project / "evals.toml").unlink()
    assert evals(project, "init", "--pass-through", "vocabulary.example")[0] == 0
    assert 'pass_through = ["vocabulary.example"]' in (project / "evals.toml").read_text()


def test_a_replay_has_placeholders_for_the_keys_of_the_recording(tmp_path):
    project = a_project(tmp_path, "os.environ['GROQ_API_KEY']", "pass")
    code, said = evals(project, "run", "first")
    assert (code, "set GROQ_API_KEY" in said) == (3, True), said
    with live_model(lambda *_: "hi there") as live:
        assert evals(project, "record", "first", "--recorded-by", "tests", GROQ_API_KEY="a-real-one", **live)[0] == 0
        kept = (project / "cassettes/environment.json").read_text()
        assert ("GROQ_API_KEY" in kept, "a-real-one" in kept) == (True, False)

        assert evals(project, "bless", "first")[0] == 0
        code, said = evals(project, "run", "first", "--fresh")
        assert code == 0, said
        assert evals(project, "cassette", "verify")[0] == 0

        write(project / "evaluation/cases/two.yaml", "inputs: {messages: [{role: user, content: two}]}\n")
        write(project / "agent.py", GRAPH.format(at_import="os.environ.get('GROQ_API_KEY')", in_node="pass"))
        code, said = evals(project, "record", "first", "--recorded-by", "tests", **live)  # of a colleague without it
    assert code == 0, said
    assert "GROQ_API_KEY" in (project / "cassettes/environment.json").read_text()


def test_exporters_of_traces_are_off_in_trials_unless_the_project_says_otherwise(tmp_path):
    shows = "print('exporters', *map(os.environ.get, ('OTEL_SDK_DISABLED', 'LANGFUSE_TRACING_ENABLED')), flush=True)"
    project = a_project(tmp_path, shows)
    recorded(project)
    assert "exporters true false" in (project / ".cache/target.log").read_text()

    write(project / ".env", "OTEL_SDK_DISABLED=false\n")
    (project / ".cache/target.log").unlink()
    evals(project, "run", "first", "--fresh")
    assert "exporters false false" in (project / ".cache/target.log").read_text()
