"""What labels say about searches of the code, proved with the graph's own retrieval: where one is enough, one is; and
nowhere are two demanded, since a single one can show all of the gold.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from evals.models.case import Case
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.dataset_layout import Gold
from evals.triage.dataset.load_cases import load_cases
from triage.codebase.embed import MiniLM, VectorCache
from triage.codebase.index import CodebaseIndex

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
SEVERAL_SIDES = {"race", "misleading_trace", "multi_cause", "huge_log"}
BEGINNING = 600  # characters of a function that are enough to ask for it
QUERY_CHARACTERS = 6_000  # of an issue; no investigator quotes a whole log


def wants_one_search(case: Case) -> bool:
    return all(any(rule.id == "enough:codebase_search" for rule in label.constraints) for label in case.labels.route)


def evidence(case: Case) -> set[str]:
    """The files that show what the report has to say: the gold, or what the proof of the demand names."""
    rules = (rule for label in case.labels.route for rule in label.constraints)
    named = {proof.removeprefix("code ") for rule in rules for proof in rule.proof if proof.startswith("code ")}
    return named | set(case.labels.gold.files)


def best_queries(gold: Gold, tree: Path) -> Iterator[str]:
    yield " ".join((*gold.files, *(name.partition("::")[2] for name in gold.functions)))
    yield "\n".join(source(tree, *name.split("::"))[:BEGINNING] for name in gold.functions)


def source(tree: Path, path: str, name: str) -> str:
    text = (tree / path).read_text(encoding="utf-8")
    found = next(node for node in ast.parse(text).body if getattr(node, "name", "") == name)
    return ast.get_source_segment(text, found) or ""


@cache
def shipped() -> dict[str, Case]:
    return load_cases(CHECKOUT / "datasets")


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    """One for all cases: trees of one codebase share most of their chunks."""
    return MiniLM(VectorCache(CHECKOUT / "cassettes" / "vectors.npz"))


@pytest.mark.parametrize("case_id", [name for name, case in shipped().items() if wants_one_search(case)])
def test_one_search_is_enough_where_the_trace_or_the_first_look_leads_to_the_gold(case_id, embedder, tmp_path_factory):
    """A non-English issue is looked up in the words of its translated twin: the investigator's keywords are English."""
    case = shipped()[case_id]
    plain = shipped()[case.labels.pair_id] if case.labels.archetype == "non_english" else case
    tree = materialise(case, CHECKOUT / "datasets", tmp_path_factory.getbasetemp() / "first-look")
    retriever = CodebaseIndex.build(tree, embedder).retriever()

    found = retriever.invoke(f"{plain.title}\n{plain.body}"[:QUERY_CHARACTERS])

    seen = {document.metadata["path"] for document in found}
    assert evidence(case)
    assert "trace-names-gold" in case.labels.tags or seen >= evidence(case)


@pytest.mark.parametrize("case_id", [name for name, one in shipped().items() if one.labels.archetype in SEVERAL_SIDES])
def test_a_single_search_can_show_all_of_the_gold_so_none_is_demanded_twice(case_id, embedder, tmp_path_factory):
    """Asked with the names of what is to blame, or with the beginning of its code: what no route can rule out."""
    case = shipped()[case_id]
    gold = case.labels.gold
    tree = materialise(case, CHECKOUT / "datasets", tmp_path_factory.getbasetemp() / "first-look")
    retriever = CodebaseIndex.build(tree, embedder).retriever()

    shown = [{found.metadata["path"] for found in retriever.invoke(query)} for query in best_queries(gold, tree)]

    assert any(seen >= set(gold.files) for seen in shown)
