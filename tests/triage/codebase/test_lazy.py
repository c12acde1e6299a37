"""Large repositories: only chunks that share most words with a query are embedded; small ones are ranked as ever."""

from pathlib import Path

import pytest

from tests.builders.repository import HashEmbedder, a_repository
from triage.codebase.chunk import chunks_of
from triage.codebase.index import CANDIDATES, CodebaseIndex
from triage.codebase.source_files import source_files

LINES = {
    f"pkg/m{n}.py": f"def job_{n}(cart):\n    return cart + {'total' if n % 3 else 'tax'}_{n}\n" for n in range(12)
}
QUERY = "total of job_7 is wrong"


class Counting(HashEmbedder):
    """Remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked += texts
        return super().embed(texts)


def an_index(folder, candidates):
    files = dict(source_files(a_repository(folder, LINES)))
    chunks = [chunk for path, text in files.items() for chunk in chunks_of(path, text)]
    return CodebaseIndex(chunks, frozenset(files), Counting(), candidates=candidates)


def test_no_more_chunks_are_embedded_than_can_be_candidates(tmp_path):
    index = an_index(tmp_path, 5)
    index.ranking(QUERY)

    assert len(index.embedder.asked) == 1 + 5
    assert any("job_7" in text for text in index.embedder.asked[1:])


def test_where_all_chunks_are_candidates_the_ranking_is_the_full_one(tmp_path):
    """One more candidate than chunks, or one for each: Chroma. One less: candidates alone are compared."""
    full, exact, less = (an_index(tmp_path, count) for count in (1_000, len(LINES), len(LINES) - 1))

    assert exact.ranking(QUERY) == full.ranking(QUERY)
    assert len(less.ranking(QUERY).distances) == len(LINES) - 1


@pytest.mark.parametrize("candidates", [3, 6, 11])
def test_a_candidate_is_as_far_from_the_query_as_in_the_full_ranking(tmp_path, candidates):
    full = an_index(tmp_path, 1_000).ranking(QUERY).distances
    lazy = an_index(tmp_path, candidates).ranking(QUERY).distances

    assert len(lazy) == candidates
    assert lazy == pytest.approx({name: full[name] for name in lazy}, abs=2e-4)


def test_what_a_query_finds_does_not_depend_on_what_was_asked_before(tmp_path):
    fresh, used = an_index(tmp_path, 4), an_index(tmp_path, 4)
    for before in ("tax of job_3", "total of job_11"):
        used.ranking(before)

    assert used.ranking(QUERY) == fresh.ranking(QUERY)


def test_a_query_that_shares_no_word_is_answered_by_meaning(tmp_path):
    assert len(an_index(tmp_path, 4).retriever(4).invoke("Ünwörter")) == 4


def test_every_codebase_of_the_dataset_is_small_enough_to_be_ranked_as_a_whole():
    """What was recorded there rests on it."""
    codebases = [path for path in (Path(__file__).parents[3] / "datasets" / "codebases").iterdir() if path.is_dir()]
    sizes = [sum(len(chunks_of(*file)) for file in source_files(path)) for path in codebases]

    assert len(sizes) == 6
    assert max(sizes) <= CANDIDATES
