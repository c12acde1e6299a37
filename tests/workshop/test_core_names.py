"""No name and no text of the core (`evals/` without the pack of triage) is of something that only triage has."""

import ast
import re
from typing import Final

import pytest

from tests.structure import PACK, ROOT, SourceFile, source_files

OF_TRIAGE: Final = re.compile(
    r"(?<![a-z])(archetype|categor(y|ies)|codebase|critic|guard|human_input|investigator|iterations|max_iterations"
    r"|root_cause|severit(y|ies)|supervisor|ticket|triage|veto(es)?|writer)s?(?![a-z])"
)
"""Nodes, labels, guards and report fields of the triage graph."""
OWN_NAME: Final = re.compile(r"evals\.triage|triage[-_]evals")
"""Names of this distribution and of the pack that a checkout has without naming one."""
OLD: Final = "files and command lines of before are still read"
KEPT: Final = {
    ("evals/cassettes/package_line_references.py", "codebases"): "a folder that is on disk",
    ("evals/cassettes/player.py", "x-triage-agent"): "the header of recorded requests",
    ("evals/cli/deprecated_syntax.py", "--guards"): OLD,
    ("evals/cli/deprecated_syntax.py", "--set guards={}"): OLD,
    ("evals/cli/deprecated_syntax.py", "--max-iterations"): OLD,
    ("evals/cli/deprecated_syntax.py", "--set max_iterations={}"): OLD,
    ("evals/source_loader.py", "triage"): "the other package that this distribution installs",
    ("evals/models/metrics.py", "supervisor"): "a value in stored runs",
    ("evals/models/suite.py", "archetypes"): OLD,
    ("evals/otlp/span_data.py", "codebase_index"): "the name of a tool in exported spans",
    ("evals/report/view/variant_tables.py", "cost.vetoes"): "a metric in stored runs",
    ("evals/routes/constraints.py", "confidence_before_writer"): "what `confidence` means in labels of routes",
    ("evals/shared/command_lifecycle.py", "triage"): "an extra of this distribution",
    ("evals/target/http_hooks.py", "stream_writer"): "a name of LangGraph",
    **{
        ("evals/report/run_files.py", text): OLD
        for text in ["archetype", "archetypes", "category", "guard", "root_cause", "severity", "ticket", "vetoes"]
    },
}
"""(File, text) of texts that stay, and why."""


def names(text: str) -> set[str]:
    """Every name that a module defines or reads: classes, functions, parameters, fields, attributes, keywords."""
    found: set[str | None] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=name):
                found.add(name)
    return found - {None}


def texts(text: str) -> set[str]:
    """Every string that a module holds, those inside f-strings too; without docstrings, which no user meets."""
    tree = ast.parse(text)
    told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in told)
    return {node.value for node in found if isinstance(node.value, str)}


def of_triage(found: set[str]) -> list[str]:
    """Names or texts that hold a word of the triage graph, sorted."""
    in_words = ((each, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", OWN_NAME.sub("", each)).lower()) for each in found)
    return sorted(each for each, words in in_words if OF_TRIAGE.search(words))


def of_core() -> list[SourceFile]:
    """The modules of the core."""
    return [each for each in source_files() if each.path.startswith("evals/") and not each.path.startswith(PACK)]


def test_no_name_in_the_core_is_one_of_the_triage_graph():
    assert {(each.path, name) for each in of_core() for name in of_triage(names(each.text))} == set()


def test_no_text_in_the_core_names_something_of_the_triage_graph():
    assert {(each.path, text) for each in of_core() for text in of_triage(texts(each.text))} == set(KEPT)


def test_no_page_of_the_core_names_something_of_the_triage_graph():
    pages = [path for folder in ("templates", "assets") for path in (ROOT / "evals/report" / folder).iterdir()]

    assert [path.name for path in pages if of_triage({path.read_text(encoding="utf-8")})] == []


@pytest.mark.parametrize(
    "text",
    [
        "class GuardVeto: ...",
        "class Options:\n    max_iterations: int = 0",
        "def name(archetypes): ...",
        "def confidence_before_writer(): ...",
        "print(labels.severity)",
        "Case(root_cause='')",
    ],
)
def test_a_name_of_the_triage_graph_is_found(text):
    assert len(of_triage(names(text))) == 1


def test_a_longer_word_is_another_word():
    assert of_triage(names("def rewriter(safeguarded): ...")) == []


@pytest.mark.parametrize("text", ["found = 'asked by human_input'", "print(f'{count} guards')"])
def test_a_text_of_the_triage_graph_is_found(text):
    assert len(of_triage(texts(text))) == 1


def test_a_docstring_may_name_the_triage_graph():
    assert of_triage(texts("def work():\n    'Runs the supervisor.'")) == []
