"""Distances that were measured before: the same ranking without any model."""

import pytest

from tests.builders.repository import HashEmbedder, a_repository
from triage.codebase.chunk import chunks_of
from triage.codebase.embed import Distances
from triage.codebase.index import CodebaseIndex
from triage.codebase.source_files import source_files

QUERY = "the lease of a job runs out"
FILES = {f"job_{n}.py": f"def job_{n}():\n    return lease({n})\n" for n in range(12)}


class NoModel:
    """An embedder nobody should ask."""

    def embed(self, texts):
        raise AssertionError(f"asked for {len(texts)} vectors")


def an_index(folder, embedder, measured):
    files = dict(source_files(a_repository(folder, FILES)))
    chunks = [chunk for path, text in files.items() for chunk in chunks_of(path, text)]
    return CodebaseIndex(chunks, frozenset(files), embedder, candidates=5, measured=measured)


def test_what_was_measured_once_is_ranked_alike_without_a_model(tmp_path):
    measured = Distances(tmp_path / "distances.npz")
    first = an_index(tmp_path / "a", HashEmbedder(), measured).ranking(QUERY)
    measured.save()

    again = an_index(tmp_path / "b", NoModel(), Distances(tmp_path / "distances.npz")).ranking(QUERY)

    assert (again.best, dict(again.distances)) == (first.best, dict(first.distances))


def test_another_query_is_measured_anew(tmp_path):
    measured = Distances(tmp_path / "distances.npz")
    an_index(tmp_path / "a", HashEmbedder(), measured).ranking(QUERY)

    with pytest.raises(AssertionError, match="asked for"):
        an_index(tmp_path / "b", NoModel(), measured).ranking("another question")


def test_what_two_processes_measured_stands_in_one_file_and_in_the_same_bytes(tmp_path):
    path = tmp_path / "distances.npz"
    one, other = Distances(path), Distances(path)
    one.put("a", ["x", "y"], [0.1234, 1.5])
    other.put("b", ["x"], [0.0])
    one.save()
    other.save()
    before = path.read_bytes()
    Distances(path).save()

    assert Distances(path).get("a", ["x", "y"]) == [0.1234, 1.5]
    assert Distances(path).get("b", ["x"]) == [0.0]
    assert path.read_bytes() == before
