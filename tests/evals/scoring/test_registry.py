"""The registry takes scorers from the pack and keeps their order."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from evals.errors import ConfigurationError
from evals.scoring import cost_scorers, route_scorers
from evals.scoring.registry import READY_MADE, scorers
from evals.scoring.scorer import scorer


@scorer("reply.length", unit="count", better="lower")
def reply_length(case, trace):
    """Characters of the reply."""
    return len(trace.output["reply"])


def a_pack(monkeypatch, *listed, name="toy_scorers"):
    module = ModuleType(name)
    module.SCORERS = listed
    monkeypatch.setitem(sys.modules, name, module)
    return SimpleNamespaceWithHash(scorers=(name,), primary=(), root=Path())


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
        scorers(SimpleNamespaceWithHash(scorers=("no_such_scorers",), primary=(), root=Path()))


SOURCE = '''
from evals import scorer


@scorer("reply.short", primary=True)
def short(case, trace):
    """Whether the reply is short."""
    return len(trace.output["reply"]) < 9
'''


def a_project(folder, source, *primary):
    """A pack whose scorers are in a file of its project."""
    (folder / "own.py").write_text(source)
    return SimpleNamespaceWithHash(scorers=("own.py",), primary=primary, root=folder)


def test_scorers_are_taken_from_a_file_of_the_project(tmp_path):
    (found, *rest) = scorers(a_project(tmp_path, SOURCE))

    assert (found.name, found.unit, found.primary) == ("reply.short", "fraction", True)
    assert set(rest) == set(READY_MADE)


def test_a_file_of_scorers_may_import_others_of_its_project(tmp_path):
    (tmp_path / "words_of_it.py").write_text("LIMIT = 9\n")
    source = SOURCE.replace("from evals", "from words_of_it import LIMIT\nfrom evals").replace("9\n", "LIMIT\n")

    assert scorers(a_project(tmp_path, source))[0].name == "reply.short"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import json\nimport nosuch\n", r"^own\.py:2: scorers own\.py cannot be imported \(ModuleNotFoundError"),
        ("def f(:\n", r"^own\.py:1: scorers own\.py cannot be imported \(SyntaxError"),
        (SOURCE.replace('"""Whether the reply is short."""', ""), r"^own\.py:\d+: .*write its definition there"),
        ("from evals import scorer\n", r"^own\.py: has no scorer; write @scorer\(NAME\)"),
        (SOURCE.replace("primary", 'unit="count", primary'), r"^reply\.short cannot be primary: it must be a fraction"),
        (SOURCE.replace("primary", "macro=True, primary"), r"^reply\.short cannot be macro: only decision\.score is"),
    ],
)
def test_what_is_wrong_with_a_file_of_scorers_is_one_line_with_its_place(tmp_path, source, says):
    with pytest.raises(ConfigurationError, match=says):
        scorers(a_project(tmp_path, source))


def test_a_project_names_the_metrics_that_decide(tmp_path):
    found = scorers(a_project(tmp_path, SOURCE, "cost.failed_visits", "route.score"), ("route.score",))

    assert [one.name for one in found if one.primary] == ["route.score"]


def test_a_primary_metric_that_is_none_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"no metric 'reply\.shrot'; did you mean 'reply\.short'\?"):
        scorers(a_project(tmp_path, SOURCE, "reply.shrot"))


def test_scorers_that_another_project_has_under_the_same_name_are_refused(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same_scorers.py").write_text(SOURCE)
    packs = [
        SimpleNamespaceWithHash(scorers=("same_scorers",), primary=(), root=tmp_path / name)
        for name in ("first", "second")
    ]
    scorers(packs[0])

    with pytest.raises(ConfigurationError, match=r"^scorers same_scorers are those of .*first.same_scorers\.py"):
        scorers(packs[1])
