"""Which routes a specification lets through, and that they are looked for once."""

import pytest

from evals.dataset.passing import find_out, passing_of, strictness_of
from evals.kept import Kept
from evals.routes.selftest import strictness
from tests.builders.case import a_spec, an_alternative, case_constraints, reviewed_policy

SHORT = ("investigator", "codebase_search", "writer")
WITH_CRITIC = ("investigator", "codebase_search", "critic", "writer")


def test_a_sure_supervisor_may_go_with_or_without_the_critic_and_an_unsure_one_may_not_go_without(tmp_path):
    passing = passing_of(a_spec(an_alternative(*reviewed_policy(), *case_constraints())), tmp_path)

    assert {band: (SHORT in routes, WITH_CRITIC in routes) for band, routes in passing.items()} == {
        "unsure": (False, True),
        "sure": (True, True),
    }


def test_many_new_specifications_are_found_out_by_several_processes_as_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr("evals.dataset.passing.FEW", 1)
    specs = [a_spec(), a_spec(an_alternative(max_steps=4))]
    find_out(specs, tmp_path / "two", jobs=2)
    for spec in specs:
        passing_of(spec, tmp_path / "one")

    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_few_are_left_to_whoever_asks(tmp_path):
    find_out([a_spec()], tmp_path, jobs=2)

    assert not (tmp_path / "passing").exists()


def contents(cache):
    return {path.name: path.read_bytes() for path in entries(cache)}


def test_strictness_is_counted_once_and_the_same_whether_the_routes_are_known_or_not(tmp_path, monkeypatch):
    counted = strictness(a_spec())
    passing_of(a_spec(), tmp_path / "known")
    strictness_of(a_spec(), tmp_path / "new")
    monkeypatch.setattr("evals.dataset.passing.strictness", None)  # nobody counts again

    assert [strictness_of(a_spec(), tmp_path / name) for name in ("known", "new")] == [counted, counted]


def entries(cache):
    return [path for path in (cache / "passing").rglob("*") if path.is_file()]


def test_what_was_found_is_remembered(tmp_path):
    first = passing_of(a_spec(), tmp_path)
    [place] = entries(tmp_path)
    Kept(tmp_path / "passing").put(place.name, b'{"unsure": [["writer"]], "sure": []}')

    assert (passing_of(a_spec(), tmp_path)["unsure"], len(first["unsure"]) > 1) == (frozenset({("writer",)}), True)


def test_other_exemplars_share_the_answer_and_other_rules_do_not(tmp_path):
    passing_of(a_spec(), tmp_path)
    passing_of(a_spec(an_alternative(exemplars=(SHORT,))), tmp_path)
    assert len(entries(tmp_path)) == 1

    passing_of(a_spec(an_alternative(max_steps=4)), tmp_path)

    assert len(entries(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"{}", b"[[", b'{"unsure": [["writer"]], "sure": []}', b"\xff"])
def test_what_is_remembered_and_damaged_is_found_anew(tmp_path, damage):
    first = passing_of(a_spec(), tmp_path)
    [place] = entries(tmp_path)
    place.write_bytes(damage)

    assert passing_of(a_spec(), tmp_path) == first
