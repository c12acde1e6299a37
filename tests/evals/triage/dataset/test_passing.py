"""Which routes a specification lets through, and that they are looked for once."""

import random
from itertools import product
from pathlib import Path

import pytest

from evals.content_cache import Kept
from evals.models.case import Steps
from evals.routes.route_check import check
from evals.triage.dataset.load_cases import load_cases
from evals.triage.dataset.route_strictness import BANDS, SURE, passing_of, passing_routes, strictness_of
from evals.triage.nodes import NODES
from tests.builders.case import a_constraint, a_spec, an_alternative, case_constraints, reviewed_policy

SHORT = ("investigator", "codebase_search", "writer")
WITH_CRITIC = ("investigator", "codebase_search", "critic", "writer")


def test_a_sure_supervisor_may_go_with_or_without_the_critic_and_an_unsure_one_may_not_go_without(tmp_path):
    passing = passing_of(a_spec(an_alternative(*reviewed_policy(), *case_constraints())), tmp_path)

    assert {band: (SHORT in routes, WITH_CRITIC in routes) for band, routes in passing.items()} == {
        "unsure": (False, True),
        "sure": (True, True),
    }


def test_strictness_is_the_share_of_routes_of_up_to_six_visits_that_an_unsure_supervisor_may_take(tmp_path):
    found = strictness_of(a_spec(), tmp_path)

    assert (found.accepted, found.sequences) == (len(passing_of(a_spec(), tmp_path)["unsure"]), 55_986)


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


def some_specs():
    """Committed ones of every number of alternatives, and rules thrown together from all of them."""
    known = [case.route_spec for case in load_cases(Path("datasets")).values()]
    rng = random.Random(5)  # noqa: S311 - examples
    alternatives = [each for spec in known for each in spec.alternatives]
    constraints = [rule for each in alternatives for rule in each.constraints]
    mixed = [
        each.model_copy(update={"constraints": tuple(rng.sample(constraints, 6))})
        for each in rng.choices(alternatives, k=12)
    ]
    several = [spec for spec in known if len(spec.alternatives) > 1][:3]
    return [*known[::30], *several, *(a_spec(*rng.sample(mixed, number)) for number in (1, 1, 1, 2, 2, 3, 3))]


def test_of_two_alternatives_the_one_that_scores_better_counts_even_if_only_the_other_lets_a_route_pass():
    """Four visits are long for the first, which asks nothing; the second asks for what is missing, softly."""
    asking = (a_constraint("init", ["investigator"], w=5), a_constraint("absence", ["web_search"], id="rest", w=1))
    long = an_alternative(exemplars=()).model_copy(update={"constraints": (), "steps": Steps(target=1, max=4)})
    short = long.model_copy(update={"constraints": asking, "steps": Steps(target=4, max=6)})
    route = ("investigator", "codebase_search", "web_search", "writer")

    alone, both = (set(passing_routes(a_spec(*ways), SURE, longest=4)) for ways in ((long,), (long, short)))

    assert (route in alone, route in both) == (True, False)


@pytest.mark.parametrize("band", BANDS)
def test_every_sequence_passes_as_it_does_when_it_is_scored_in_full(band):
    rules = {}
    for spec in some_specs():
        found = list(passing_routes(spec, BANDS[band], rules, longest=4))

        every = (route for length in range(1, 5) for route in product(NODES, repeat=length))
        assert sorted(found) == sorted(route for route in every if check(spec, route, BANDS[band]).passed)
