"""The registry takes scorers from the pack and keeps their order."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from evals.errors import ConfigurationError
from evals.scoring import cost_scorers, route_scorers
from evals.scoring.registry import READY_MADE, scorers
from evals.scoring.scorer import scorer


@scorer("reply.length", unit="count", better="lower", primary=True)
def reply_length(case, trace):
    """Characters of the reply."""
    return len(trace.comment)


def a_pack(monkeypatch, *listed, name="toy_scorers"):
    module = ModuleType(name)
    module.SCORERS = listed
    monkeypatch.setitem(sys.modules, name, module)
    return SimpleNamespaceWithHash(scorers=(name,))


class SimpleNamespaceWithHash(SimpleNamespace):
    __hash__ = object.__hash__


def test_a_pack_brings_scorers_of_its_own(monkeypatch):
    found = scorers(a_pack(monkeypatch, reply_length))

    assert found[0] is reply_length
    assert set(found[1:]) == set(READY_MADE)


def test_a_pack_names_the_place_of_a_ready_made_scorer(monkeypatch):
    found = scorers(a_pack(monkeypatch, cost_scorers.tokens, reply_length, route_scorers.route_pass))

    assert [one.name for one in found[:3]] == ["cost.tokens", "reply.length", "route.pass"]
    assert len({one.name for one in found}) == len(found)


def test_two_scorers_of_one_name_are_refused(monkeypatch):
    @scorer("route.pass", unit="fraction", better="higher")
    def other(case, trace):
        """Something else."""
        return 0.0

    with pytest.raises(ConfigurationError, match=r"^2 scorers are called route\.pass; rename all but one$"):
        scorers(a_pack(monkeypatch, other))


def test_a_module_of_scorers_that_is_not_there_is_named():
    with pytest.raises(ConfigurationError, match="no_such_scorers"):
        scorers(SimpleNamespaceWithHash(scorers=("no_such_scorers",)))
