"""The door: a folder and a place for a cache in, something to search out; the second time nothing is computed."""

import pytest

from tests.builders.git import git
from tests.builders.repository import FILES, HashEmbedder, a_repository
from triage.codebase import checkout_index as checkout
from triage.codebase.checkout_index import SharedMiniLM, index_of_sources
from triage.codebase.embed import MiniLM
from triage.codebase.source_files import Source
from triage.errors import InputError


class Model(HashEmbedder):
    """Computes as the builder's embedder does."""

    def compute(self, text):
        return self.embed([text])[0]


@pytest.fixture
def root(tmp_path, monkeypatch, request):
    """A shop like no other: Chroma keeps what the process has indexed before."""
    monkeypatch.setattr(checkout, "MiniLM", Model)
    return a_repository(tmp_path / "shop", {**FILES, "NOTES.md": request.node.name})


def found(index, query="with_tax is wrong"):
    return [document.id for document in index.retriever(3).invoke(query)]


def test_after_an_edit_only_what_was_edited_is_embedded(root, tmp_path):
    found(index_of_sources([Source(root)], tmp_path / "cache", pytest.fail))
    (root / "shop" / "mail.py").write_text("def send(address):\n    return address\n")
    edited = index_of_sources([Source(root)], tmp_path / "cache", pytest.fail)
    found(edited)

    assert edited.embedder.computed == 1


def test_one_line_says_what_is_searched_and_what_is_not(root, tmp_path):
    git(root, "init", "--quiet")
    (root / "prices.csv").write_text("1,2\n")
    index = index_of_sources([Source(root)], tmp_path / "cache", pytest.fail)

    assert index.about == f"{root}: 5 files; left out: what git ignores, 1 not code; 6 chunks"


@pytest.mark.parametrize("files", [{"é.md": "ü\n"}, {"a.py": "\n"}])
def test_a_folder_with_next_to_nothing_in_it_is_an_index_like_any_other(tmp_path, files):
    index = index_of_sources([Source(a_repository(tmp_path, files))], tmp_path / "cache", pytest.fail)

    assert found(index) == [chunk.id for chunk in index.chunks]


@pytest.mark.parametrize("files", [{"logo.png": b"\0"}, {}])
def test_a_folder_without_a_text_file_is_refused(tmp_path, files):
    with pytest.raises(InputError, match="there is no text file to search in"):
        index_of_sources([Source(a_repository(tmp_path, files))], tmp_path / "cache", pytest.fail)


@pytest.mark.slow
def test_all_cores_compute_the_bits_that_one_computes(tmp_path):
    texts = [f"def f_{n}():\n    return {'x' * n}" for n in range(12)]
    shared = SharedMiniLM(checkout.SharedVectors(tmp_path / "vectors.sqlite", pytest.fail))

    assert shared.embed(texts).tobytes() == MiniLM().embed(texts).tobytes()
    assert shared.embed(texts[::-1]).tobytes() == MiniLM().embed(texts[::-1]).tobytes()
    assert shared.computed == len(texts)
