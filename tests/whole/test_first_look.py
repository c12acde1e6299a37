"""Where a label says that one code search is enough, one is: proved with the graph's own retrieval."""

from functools import cache
from pathlib import Path

import pytest

from evals.dataset.codebase import materialise
from evals.dataset.load import load_cases
from evals.models.case import Case
from triage.codebase.embed import MiniLM, VectorCache
from triage.codebase.index import CodebaseIndex

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
QUERY_CHARACTERS = 6_000  # of an issue; no investigator quotes a whole log


def wants_one_search(case: Case) -> bool:
    return bool(case.labels.gold.files) and all(
        any(rule.id == "enough:codebase_search" for rule in label.constraints) for label in case.labels.route
    )


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
    assert "trace-names-gold" in case.labels.tags or seen >= set(case.labels.gold.files)
