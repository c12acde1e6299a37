"""The core (`evals/` without the pack of triage) names nothing that only the triage graph has."""

import ast
import re

import pytest

from tests.structure import PACK, source_files

OF_TRIAGE = re.compile(
    r"(?<![a-z])(archetype|categor(y|ies)|codebase|critic|guard|human_input|investigator|iterations|max_iterations"
    r"|root_cause|severit(y|ies)|supervisor|ticket|triage|veto(es)?|writer)s?(?![a-z])"
)
"""Nodes, labels, guards and report fields of the triage graph."""
KEPT: dict[tuple[str, str], str] = {}
"""(File, name) of names that stay, and why."""


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


def of_triage(text: str) -> list[str]:
    """Names that hold a word of the triage graph, sorted."""
    in_words = ((name, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) for name in names(text))
    return sorted(name for name, words in in_words if OF_TRIAGE.search(words))


def test_no_name_in_the_core_is_one_of_the_triage_graph():
    core = (each for each in source_files() if each.path.startswith("evals/") and not each.path.startswith(PACK))

    assert {(each.path, name) for each in core for name in of_triage(each.text)} == set(KEPT)


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
    assert len(of_triage(text)) == 1


def test_a_longer_word_is_another_word():
    assert of_triage("def rewriter(safeguarded): ...") == []
