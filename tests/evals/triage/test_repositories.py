"""The code of all cases at work: one embedder, equal code once, and given back when nobody needs it."""

import pytest

from evals.triage import recorded_graph as module
from evals.triage.recorded_graph import Repositories
from evals.workspace import Workspace
from tests.builders.case import a_case
from tests.builders.repository import HashEmbedder, a_repository


@pytest.fixture
def code(tmp_path, monkeypatch):
    """Repositories whose cases `a` and `twin` have equal code, and `b` other; it embeds without a model."""
    trees = {"a": a_repository(tmp_path / "a"), "b": a_repository(tmp_path / "b", {"b.py": "x = 1\n"})}
    monkeypatch.setattr(module, "embedder_at", lambda _: HashEmbedder())
    monkeypatch.setattr(module, "materialise", lambda case, *_: trees["b" if case.id == "b" else "a"])
    return Repositories(Workspace(tmp_path, tmp_path))


def test_all_cases_share_one_embedder(code):
    """Each would else load a model of sixty megabytes of its own."""
    assert code.of(a_case(id="a")).embedder is code.of(a_case(id="b")).embedder


def test_equal_code_is_indexed_once(code):
    assert code.of(a_case(id="a")) is code.of(a_case(id="twin"))


def test_a_closed_case_gives_its_memory_back(code):
    index = code.of(a_case(id="b")).index
    index.ranking("x")
    collection = index._collection
    code.close(a_case(id="b"))

    with pytest.raises(Exception, match="does not exist"):
        collection.count()


def test_code_that_another_case_still_searches_stays(code):
    index = code.of(a_case(id="a")).index
    before = index.ranking("tax")
    code.of(a_case(id="twin"))
    code.close(a_case(id="a"))

    assert code.of(a_case(id="twin")).index is index
    assert index.ranking("tax") is before
