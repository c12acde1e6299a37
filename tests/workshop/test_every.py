"""What `make test` draws from the shipped cassettes holds each kind, and `make test EVERY=1` draws them all."""

from itertools import chain

from evals.cassettes.store import load
from tests.builders.shipped import EVERY, all_cassettes, some_cassettes, strata


def test_every_codebase_and_every_model_is_in_the_sample(monkeypatch):
    monkeypatch.delenv(EVERY, raising=False)
    drawn = {path.name for path in some_cassettes()}

    assert all(drawn.intersection(names) for names in strata().values())
    assert {path.name.partition("-")[0] for path in all_cassettes()} == {name.partition("-")[0] for name in drawn}


def test_every_agent_and_every_sample_is_in_the_sample(monkeypatch):
    """The manifest does not say which agents spoke."""
    monkeypatch.delenv(EVERY, raising=False)
    spoken = list(chain.from_iterable(load(path).interactions for path in some_cassettes()))

    assert {"supervisor", "investigator", "codebase_search", "web_search", "critic", "writer"} <= {
        found.agent for found in spoken
    }
    assert {found.sample for found in spoken} >= {0, 1, 2}


def test_every_cassette_is_drawn_where_every_one_is_asked_for(monkeypatch):
    monkeypatch.setenv(EVERY, "1")

    assert some_cassettes() == all_cassettes()
    assert sorted(chain.from_iterable(strata().values())) == [path.name for path in all_cassettes()]
