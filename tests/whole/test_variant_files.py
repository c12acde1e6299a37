"""Variants of a project's own graph that run other prompts, or another revision of the whole target."""

import json
import multiprocessing
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from threading import Thread

import pytest

from evals.pipeline.attribute_hunks import PromptChange
from evals.pipeline.compare_variants import operands
from evals.prompt_versions import NamedPrompt
from evals.suites.suite_files import read_suite
from evals.target.variant_checkout import VariantFiles
from evals.workspace import Workspace
from tests.builders.at_once import evals_at_once
from tests.builders.checkout import evals as evals_here
from tests.builders.dataset import write
from tests.builders.example_projects import evals, live_model

pytestmark = pytest.mark.slow

GRAPH = '''
"""A desk and a clerk; the clerk's prompt is read at import, from wherever the process stands."""

from pathlib import Path

from langchain_openai import ChatOpenAI
from langgraph.graph import MessagesState, StateGraph

model = ChatOpenAI(model="small")
HERE = Path(__file__).resolve().parent
CLERK = (HERE / "prompts" / "clerk.md").read_text()


def desk(state: MessagesState, config):
    version = config["configurable"].get("desk", "v1")
    prompt = (HERE / "prompts" / "desk" / f"{version}.md").read_text()
    return {"messages": [model.invoke([("system", prompt), *state["messages"]])]}


def clerk(state: MessagesState):
    return {"messages": [model.invoke([("system", CLERK), *state["messages"]])]}


builder = StateGraph(MessagesState)
builder.add_node(desk)
builder.add_node(clerk)
builder.add_edge("__start__", "desk")
builder.add_edge("desk", "clerk")
builder.add_edge("clerk", "__end__")
graph = builder.compile()
'''
SETTINGS = '[target]\nprompts = ["prompts/*.md", "prompts/*/*.md"]\n'
CASE = "inputs: {messages: [{role: user, content: hello}]}\n"


def git(project: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


def answer(_texts, body) -> str:
    """Says which prompt it was given."""
    return f"by {body['messages'][0]['content'].strip()}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in git: its first commit has other prompts and one node less to say."""
    write(tmp_path / "langgraph.json", json.dumps({"graphs": {"desk": "./desk.py:graph"}, "env": ".env"}))
    write(tmp_path / "desk.py", GRAPH)
    write(tmp_path / "prompts" / "clerk.md", "first clerk\n")
    write(tmp_path / "prompts" / "clerk" / "polite.md", "polite clerk\n")
    write(tmp_path / "prompts" / "desk" / "v1.md", "first desk\n")
    write(tmp_path / "prompts" / "desk" / "v2.md", "second desk\n")
    write(tmp_path / ".gitignore", ".cache\n.env\nreports\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    write(tmp_path / "prompts" / "clerk.md", "second clerk\n")
    write(tmp_path / "desk.py", GRAPH.replace('("system", CLERK)', '("system", f"new {CLERK}")'))
    write(tmp_path / "evals.toml", SETTINGS)
    write(tmp_path / "evaluation" / "cases" / "hello.yaml", CASE)
    return tmp_path


def suite(project: Path, *variants: str) -> None:
    write(project / "evaluation" / "suites" / "first.yaml", "variants:\n" + "".join(f"  - {one}\n" for one in variants))


def said_by(project: Path, folder: str = "latest") -> dict[str, list[str]]:
    """Variant -> what was answered, in order, in the newest run."""
    run = json.loads((project / "reports" / folder / "run.json").read_bytes())
    return {
        trial["trace"]["variant"]: [
            message["content"]
            for message in trial["trace"].get("output", {}).get("messages", ())
            if message["type"] == "ai"
        ]
        for trial in run["trials"]
    }


def recorded_and_run(project: Path, *more: str) -> str:
    with live_model(answer) as live:
        code, said = evals(project, "record", "first", "--recorded-by", "tests", **live)
    assert code == 0, said
    code, said = evals(project, "run", "first", *more)
    assert "Traceback" not in said
    return said


def test_a_variant_names_a_version_of_each_prompt(project):
    suite(
        project,
        "{name: now}",
        "{name: named, prompts: {desk: v2, clerk: polite}}",
        "{name: before, prompts: {clerk: 'git:main'}}",
        "{name: all, prompts: 'git:main'}",
    )
    recorded_and_run(project, "--jobs", "1")
    expected = {
        "now": ["by first desk", "by new second clerk"],
        "named": ["by second desk", "by new polite clerk"],
        "before": ["by first desk", "by new first clerk"],
        "all": ["by first desk", "by new first clerk"],
    }
    assert said_by(project) == expected
    evals(project, "run", "first", "--jobs", "2", "--fresh")
    assert said_by(project) == expected


def test_the_text_of_a_variant_is_never_seen_half_written(project):
    """Trials in several processes prepare the same file, each before its own trial."""
    files = VariantFiles(project, prompts=(NamedPrompt("clerk", "", "prompts/clerk.md", "word " * 1_000_000),))
    seen: set[int] = set()

    def prepare() -> None:
        for _ in range(20):
            with files.in_place():
                pass

    prepare()
    other = Thread(target=prepare)
    other.start()
    while other.is_alive():
        seen.update(kept.stat().st_size for kept in (project / ".cache" / "prompts").glob("*/clerk.md"))
    other.join()

    assert seen == {5_000_000}


def test_a_variant_whose_prompts_the_target_never_reads_is_told(project):
    write(project / "prompts" / "editor.md", "an editor\n")
    write(project / "prompts" / "editor" / "strict.md", "a strict editor\n")
    suite(project, "{name: now}", "{name: strict, prompts: {editor: strict}}", "{name: same, prompts: {desk: v1}}")

    said = recorded_and_run(project)

    told = "strict: every request is the one of now, although its prompts are others: the target reads no other editor"
    assert told in said
    assert "same: every request" not in said
    assert "exit code 3" in said


def test_a_variant_is_a_revision_of_the_whole_target(project):
    write(project / ".env", "GREETING=hello\n")
    suite(project, "{name: before, revision: main}", "{name: now}")
    recorded_and_run(project, "--jobs", "1")
    expected = {
        "before": ["by first desk", "by first clerk"],
        "now": ["by first desk", "by new second clerk"],
    }
    assert said_by(project) == expected
    assert list((project / ".cache" / "revisions").glob("*/")) == []
    write(project / "desk.py", "graph = None\n")
    git(project, "add", "-A")
    evals(project, "run", "first", "--jobs", "2", "--fresh")
    assert said_by(project)["before"] == expected["before"]
    assert list((project / ".cache" / "revisions").glob("*/")) == []


@pytest.mark.parametrize(
    ("variant", "code", "says"),
    [
        ("{name: a, prompts: {dsk: v1}}", 2, "did you mean 'desk'?"),
        ("{name: a, prompts: {desk: v7}}", 2, "prompt 'desk' has no version 'v7'; it has v1, v2"),
        ("{name: a, prompts: {clerk: 'git:nowhere'}}", 2, "git:nowhere: no such revision"),
        ("{name: a, prompts: {clerk: 'git:'}}", 2, "names no revision"),
        ("{name: a, prompts: {desk: 'git:main'}}", 2, "git:main:v1"),
        ("{name: a, prompts: v1}", 2, "git:REV"),
        ("{name: a, revision: nowhere}", 2, "variant a: git:nowhere: no such revision"),
        ("{name: a, revision: broken}", 3, "at broken: desk.py:1: graph 'desk' cannot be imported (SyntaxError"),
        ("{name: a, revision: empty}", 2, "variant a: broken~1 has no langgraph.json"),
    ],
)
def test_what_a_variant_names_wrongly_is_one_line(project, variant, code, says):
    git(project, "checkout", "-q", "--orphan", "other")
    for names in ((), ("langgraph.json", "desk.py")):
        git(project, "read-tree", "--empty")
        write(project / "desk.py", "graph = (\n")
        if names:
            git(project, "add", *names)
        git(project, "commit", "-q", "--allow-empty", "-m", "one")
    git(project, "branch", "broken")
    write(project / "desk.py", GRAPH)
    suite(project, variant.replace("empty", "broken~1"))
    done, said = evals(project, "run", "first", "--jobs", "1")

    assert (done, says in said, "Traceback" in said) == (code, True, False), said
    assert code == 3 or said.count("\n") == 1, said


def test_a_run_that_is_killed_leaves_no_checkout_behind(project):
    suite(project, "{name: before, revision: main}")
    recorded_and_run(project)
    write(project / "evaluation" / "cases" / "hello.yaml", CASE + "title: other\n")
    git(project, "commit", "-qam", "second")
    git(project, "branch", "-f", "slow", "main")
    checkout = project / ".cache" / "revisions"
    running = evals_at_once(project, "run", "first", "--fresh", **os.environ)
    while not list(checkout.glob("*/")):
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert list(checkout.glob("*/"))

    evals(project, "run", "first", "--fresh")
    assert list(checkout.glob("*/")) == []


def test_an_edited_prompt_of_another_node_is_named_by_plan_and_report(project):
    suite(project, "{name: now}")
    recorded_and_run(project)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "recorded")
    evals(project, "bless", "first")
    write(project / "prompts" / "clerk.md", "second clerk\nBe short.\n")
    code, said = evals(project, "plan", "first")
    assert (code, "prompt edited: prompts/clerk.md:2" in said) == (3, True), said
    git(project, "commit", "-qam", "edited")
    code, said = evals(project, "run", "first")
    assert (code, "prompts/clerk.md" in said) == (3, True), said
    page = (project / "reports" / "latest" / "index.html").read_text()
    assert "prompts/clerk.md since it was blessed" in page


def test_trials_side_by_side_share_what_is_set_up_for_them(tmp_path):
    """Whoever looks while the variant's text is in place of the file sees the file as it is."""
    file = write(tmp_path / "prompts" / "clerk.md", "Be brief.\n")
    files = VariantFiles(tmp_path, prompts=(NamedPrompt("clerk", "v2", "prompts/clerk.md", "Be kind.\n"),))

    with files.in_place():
        assert (file.read_text(), files.texts) == ("Be kind.\n", {"prompts/clerk.md": "Be kind.\n"})
    assert file.read_text() == "Be brief.\n"


def test_processes_write_the_prompts_of_a_variant_side_by_side(tmp_path):
    """Each worker of a run writes them where they are not kept yet."""
    variants = [VariantFiles(tmp_path, prompts=(NamedPrompt("desk", "", "v2.md", f"{n}\n"),)) for n in range(200)]
    forked = multiprocessing.get_context("fork")
    start = forked.Barrier(4)

    def enter() -> None:
        start.wait()
        for variant in variants:
            with variant.in_place():
                pass

    workers = [forked.Process(target=enter) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0] * 4


SIDES = {  # what a variant's prompt is told by is another question: half of them each way
    "a revision alone": ("config", ["git:main"], {"v2@main": "second desk", "v2": "edited desk"}),
    "a revision beside a variant": ("prompts", ["git:main", "v1"], {"v1@main": "first desk", "v1": "edited first"}),
    "a variant as of a revision": ("config", ["git:main:v1", "v1"], {"v1@main": "first desk", "v1": "edited first"}),
    "a file as of a revision": (
        "prompts",
        ["git:main:prompts/desk/v1.md", "v2"],
        {"prompts/desk/v1.md@main": "first desk", "v2": "edited desk"},
    ),
    "a file": ("config", ["v1", "prompts/desk/v3.md"], {"v1": "edited first", "prompts/desk/v3.md": "third desk"}),
    "a version that is no variant": ("prompts", ["v1", "v3"], {"v1": "edited first", "v3": "third desk"}),
}


@pytest.mark.parametrize(("told_by", "sides", "expected"), SIDES.values(), ids=SIDES)
def test_a_prompt_file_and_a_revision_are_compared(project, told_by, sides, expected):
    suite(project, f"{{name: v1, {told_by}: {{desk: v1}}}}", f"{{name: v2, {told_by}: {{desk: v2}}}}")
    for name, text in (("v1", "edited first"), ("v2", "edited desk"), ("v3", "third desk")):
        write(project / f"prompts/desk/{name}.md", f"{text}\n")
    code, said = evals(project, "compare", *sides, "--suite", "first")
    assert (code, "withheld" in said) == (3, False), said
    line = next(part for part in said.split("`") if part.startswith("evals record"))
    with live_model(answer) as live:
        code, said = evals(project, *shlex.split(line)[1:], **live)
    assert code == 0, said
    evals(project, "compare", *sides, "--suite", "first")

    assert {name: texts[0] for name, texts in said_by(project, "compare").items()} == {
        name: f"by {text}" for name, text in expected.items()
    }


@pytest.mark.parametrize(
    ("sides", "says"),
    [
        (["git:nowhere", "v1"], "evals: git:nowhere: no such revision; `git log --oneline` lists them\n"),
        (["git:", "v1"], "evals: git:: names no revision; write git:REV, or git:REV:VERSION\n"),
        (["git:main:v9", "v1"], "evals: git:main:v9: neither a variant nor a prompt file; there are v1, v2\n"),
        (["v1", "v9"], "evals: v9: neither a variant nor a prompt file; there are v1, v2\n"),
        (["v1", "nosuch.md"], "evals: nosuch.md: no such prompt file; name one, or a variant: v1, v2\n"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "attribute"])
def test_what_cannot_be_compared_is_one_line(project, command, sides, says):
    suite(project, "{name: v1, config: {desk: v1}}", "{name: v2, config: {desk: v2}}")

    said = evals_here(project, command, *sides, "--suite", "first")
    assert (said.code, said.out, said.err) == (2, "", says)


@pytest.mark.parametrize(
    ("settings", "variant", "says"),
    [
        (SETTINGS, "now@main", "git:main: there is no prompts/renamed.md in that revision"),
        ("[target]\n", "now@main", "evals.toml names no prompt files in `prompts`"),
        (SETTINGS, "all", "git:main: there is no prompts/renamed.md in that revision"),
    ],
)
def test_all_prompts_of_a_revision_are_refused_where_one_cannot_be_had(project, settings, variant, says):
    """The graph would read that of the working tree, and so would the other side."""
    (project / "prompts/clerk.md").rename(project / "prompts/renamed.md")
    write(project / "evals.toml", settings)
    suite(project, "{name: now}", *(["{name: all, prompts: 'git:main'}"] if variant == "all" else []))

    said = evals_here(project, *(("run", "first") if variant == "all" else ("compare", "git:main", "--suite", "first")))
    do = "to compare whole revisions, write a variant with `revision: main`"
    assert (said.code, said.err) == (2, f"evals: variant {variant}: {says}; {do}\n")


@pytest.mark.parametrize("told_by", ["config", "prompts"])
@pytest.mark.parametrize("sides", [("git:HEAD", "v1"), ("v1", "git:HEAD"), ("v1", "prompts/desk/v3.md")])
def test_an_edited_prompt_is_attributed_against_its_committed_version_or_a_file(project, told_by, sides, monkeypatch):
    """Old and new have one paragraph each that the other has not, and a common one in between."""
    monkeypatch.chdir(project)
    old, new = "Choose.\n\nBe calm.\n\nAlways.\n\nBe brief.\n", "Choose.\n\nBe kind.\n\nAlways.\n\nBe short.\n"
    suite(project, f"{{name: v1, {told_by}: {{desk: v1}}}}")
    write(project / "prompts/desk/v1.md", old)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "second")
    write(project / "prompts/desk" / ("v3.md" if sides[1].endswith("v3.md") else "v1.md"), new)
    workspace = Workspace.at(project)
    change = PromptChange.between(
        *(each.variant for each in operands(sides, read_suite("first", project), workspace)), workspace
    )
    (one,) = VariantFiles.of(change.variant(((1,), "+")), project).prompts

    before, after = (new, old) if sides[1] == "git:HEAD" else (old, new)
    assert one.text.split("\n\n")[1:] == [after.split("\n\n")[1], *before.split("\n\n")[2:]]
