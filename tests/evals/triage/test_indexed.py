"""One index at a time, and the vectors read once."""

import os

import pytest

from evals.triage import recorded_graph as module
from evals.triage.recorded_graph import indexed
from tests.builders.repository import HashEmbedder, a_repository


@pytest.fixture
def known(monkeypatch):
    """Embeds without a model."""
    monkeypatch.setattr(module, "embedder_at", lambda _: HashEmbedder())
    module._embedder.cache_clear()
    yield
    module._embedder.cache_clear()
    module._kept.clear()


def test_the_same_tree_is_indexed_once(tmp_path, known):
    tree = a_repository(tmp_path)

    assert indexed(tree, tmp_path / "vectors.npz") is indexed(tree, tmp_path / "vectors.npz")


def test_another_tree_takes_its_place_in_memory(tmp_path, known):
    first = indexed(a_repository(tmp_path / "a", {"a.py": "nobody_else_searches = this\n"}), tmp_path / "vectors.npz")
    first.index.retriever().invoke("tax")
    collection = first.index._collection
    indexed(a_repository(tmp_path / "b", {"b.py": "x = 1\n"}), tmp_path / "vectors.npz")

    with pytest.raises(Exception, match="does not exist"):
        collection.count()


def test_cases_share_the_vectors(tmp_path, known):
    trees = [a_repository(tmp_path / name) for name in "ab"]
    first, second = (indexed(tree, tmp_path / "vectors.npz") for tree in trees)

    assert first.embedder is second.embedder


def test_vectors_written_meanwhile_are_read(tmp_path, known):
    tree, vectors = a_repository(tmp_path / "a"), tmp_path / "vectors.npz"
    vectors.write_bytes(b"")
    before = indexed(tree, vectors)
    os.utime(vectors, ns=(1, 1))

    assert indexed(tree, vectors).embedder is not before.embedder
