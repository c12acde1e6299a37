"""Where two variants part ways, and what many such places have in common."""

import pytest

from evals.comparison.divergences import baseline_divergences, clause, diverge, divergences
from tests.builders.run import a_trial
from tests.builders.trace import a_decision, a_trace

FULL = ("investigator", "codebase_search", "critic", "writer")
PARTINGS = {
    "skipped": (FULL, ("investigator", "codebase_search", "writer"), (2, "critic", "writer", "critic skipped")),
    "added": (
        FULL,
        ("investigator", "web_search", "codebase_search", "critic", "writer"),
        (1, "codebase_search", "web_search", "web_search added"),
    ),
    "order": (
        FULL,
        ("investigator", "critic", "codebase_search", "writer"),
        (1, "codebase_search", "critic", "critic moved before codebase_search"),
    ),
    "stops": (FULL, FULL[:3], (3, "writer", None, "stops before writer")),
    "goes on": (FULL[:3], FULL, (3, None, "writer", "goes on to writer")),
}


@pytest.mark.parametrize(("was", "now", "told"), PARTINGS.values(), ids=PARTINGS.keys())
def test_the_first_differing_decision_is_named(was, now, told):
    parted = diverge(a_trace(*was), a_trace(*now, variant="v3"))

    assert (parted.decision, parted.was, parted.now, parted.what) == told


def test_what_a_guard_overruled_is_no_divergence():
    """The supervisor chose otherwise, and was sent to the same place: the states stay the same."""
    told = (a_decision(0, "writer", routed="investigator"),)
    ours = a_trace("investigator", decisions=told, variant="v3")

    assert diverge(a_trace("investigator"), ours) is None


def test_where_the_tape_ends_nobody_knows_what_came_next():
    short = a_trace(*FULL[:2], variant="v3", provenance="frontier", frontier=2)

    assert diverge(a_trace(*FULL), short) is None


def trials(*routes):
    """v2 takes the full route on every case, v3 the given ones."""
    return [
        a_trial(a_trace(*route, case_id=f"c{n}", variant=name))
        for n, mine in enumerate(routes)
        for name, route in (("v2", FULL), ("v3", mine))
    ]


def test_a_variant_that_leaves_the_way_of_its_baseline_parts_with_itself():
    blessed = {"c0": {0: " ".join(FULL)}, "c1": {0: " ".join(SKIPS)}}

    parted = baseline_divergences(trials(SKIPS, SKIPS), "v3", blessed)

    assert [(one.case_id, one.right, one.against, one.what) for one in parted] == [
        ("c0", "v3 (baseline)", "baseline", "critic skipped")
    ]


SKIPS = ("investigator", "codebase_search", "writer")


def test_what_most_losses_share_is_one_clause_with_its_place():
    parted = divergences(trials(SKIPS, SKIPS, SKIPS, ("investigator", "critic", "writer")), "v3", "v2")

    assert clause(("c0", "c1", "c2", "c3"), parted) == "3 of 4 worse cases diverge at decision 3: critic skipped"


def test_the_same_thing_in_several_places_is_told_without_one():
    parted = divergences(trials(SKIPS, ("investigator", "writer")), "v3", "v2")
    moved = [one.model_copy(update={"what": "critic skipped"}) for one in parted]

    assert clause(("c0", "c1"), moved) == "2 of 2 worse cases: critic skipped"


def test_only_lost_cases_count():
    parted = divergences(trials(SKIPS, ("investigator", "critic", "writer")), "v3", "v2")

    assert clause(("c0",), parted) == "1 of 1 worse case diverges at decision 3: critic skipped"


def test_without_a_loss_nothing_is_said():
    assert clause((), divergences(trials(SKIPS), "v3", "v2")) == ""
