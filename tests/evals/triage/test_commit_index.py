"""Somebody's commit as it is searched: by the rule of live use, cut once, embedded lazily however large it is."""

import hashlib

import numpy as np
import pytest

from evals.triage.dataset.case_code import Commits, commit_tree
from evals.triage.dataset.repository_clones import Clone
from evals.triage.graph_trial import IndexedCode, trees_for
from tests.builders.case import a_case
from tests.builders.planted import a_history
from triage.codebase.embed import DIMENSIONS, MiniLM
from triage.codebase.index import CANDIDATES

NAME = "example/large"
FUNCTION = '''def {name}(value):
    """Step {n} of {of}."""
    first = value + {n}
    second = first * {n}
    return second - first


'''


class CountingEmbedder(MiniLM):
    """MiniLM's place without its model: unit vectors drawn from a digest of the text; it counts what it computes."""

    def compute(self, text):
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float16)


def materialised(tmp_path, files):
    """The folder of a commit that holds the files."""
    [head] = a_history(tmp_path / "origin", files)
    Commits.below(tmp_path / "cache").take(Clone(tmp_path / "origin"), head)
    return commit_tree(NAME, head, tmp_path / "cache")


def a_large_tree(files, functions):
    """`files` modules of `functions` functions of seven lines each; one of them is what the issue is about."""
    modules = {
        f"large/part_{m}.py": "".join(
            FUNCTION.format(name=f"step_{m}_{n}", n=n, of=functions) for n in range(functions)
        )
        for m in range(files)
    }
    return modules | {"large/refund.py": FUNCTION.format(name="refund_voucher", n=0, of=1)}


@pytest.mark.slow
def test_a_hundred_thousand_lines_are_embedded_only_where_words_point(tmp_path):
    tree = materialised(tmp_path, a_large_tree(files=290, functions=50))
    assert sum(path.read_text().count("\n") for path in tree.rglob("*.py")) >= 100_000
    embedder = CountingEmbedder()

    repository = IndexedCode.over(tree, embedder, tmp_path / "trees")
    assert (len(repository.index.chunks) > 10_000, embedder.computed) == (True, 0)
    found = repository.index.retriever().invoke("refund_voucher gives too much")
    assert "large/refund.py" in {document.metadata["path"] for document in found}
    assert embedder.computed <= CANDIDATES + 1
    [kept] = (tmp_path / "trees").iterdir()
    written = kept.read_bytes()
    assert IndexedCode.over(tree, embedder, tmp_path / "trees").index.digest == repository.index.digest
    assert [path.read_bytes() for path in (tmp_path / "trees").iterdir()] == [written]


def test_what_a_commit_holds_is_searched_whatever_its_folder_is_called(tmp_path):
    """`build` is where a package builds things; only outside of git does the name say that it was built."""
    files = {"pip/build/wheel.py": "x = 1\n", ".ci/run.py": "x = 1\n", "tests/test_x.py": "x = 1\n", "a.py": "x = 1\n"}
    repository = IndexedCode.over(materialised(tmp_path, files), CountingEmbedder(), tmp_path / "trees")

    assert repository.index.paths == {"pip/build/wheel.py", "a.py"}


def test_data_are_told_from_code_as_in_live_use(tmp_path):
    files = {"fixtures/huge.json": "[" + "1, " * 20_000 + "1]", "table.csv": "a,b\n", "settings.json": "{}\n"}
    repository = IndexedCode.over(materialised(tmp_path, files), CountingEmbedder(), tmp_path / "trees")

    assert repository.index.paths == {"settings.json"}


def test_our_own_cases_are_indexed_as_their_recordings_know_them(tmp_path):
    assert trees_for(a_case(), tmp_path) is None
