"""Summaries: means over cases, not trials; and bounds that say what the rest could still change."""

import pytest

from evals.scoring import scorer_infos
from evals.summary import case_means, coverage_of, summarise
from tests.builders.facts import a_good_trace, some_cases, some_trials
from tests.builders.trace import a_report

WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def summary_of(changed, count=4, variant="v3", scorer="root_cause.hit"):
    cases = some_cases(count)
    found = summarise(some_trials(cases, changed), cases, ("v2", "v3"), scorer_infos())
    return next(item for item in found if (item.variant, item.scorer) == (variant, scorer))


def test_one_wrong_case_of_four_is_three_quarters():
    item = summary_of({("case-0", "v3"): a_good_trace("case-0", "v3", report=WRONG)})

    assert (item.mean, item.hits, item.n, item.total) == (0.75, 3, 4, 4)


def test_what_is_off_the_tape_is_bounded_both_ways():
    """Two of four known, both right: at worst 2/4, at best 4/4."""
    off = {(name, "v3"): a_good_trace(name, "v3", provenance="frontier", frontier=1) for name in ("case-0", "case-1")}

    item = summary_of(off)

    assert (item.mean, item.n, item.pessimistic, item.optimistic) == (1.0, 2, 0.5, 1.0)


def test_nothing_known_has_no_mean():
    off = {("case-0", "v3"): a_good_trace("case-0", "v3", provenance="unrecorded")}

    item = summary_of(off, count=1)

    assert (item.mean, item.low, item.hits, item.n) == (None, None, None, 0)
    assert (item.pessimistic, item.optimistic) == (0.0, 1.0)


def test_samples_are_averaged_inside_a_case_first():
    first = some_trials(some_cases(1))
    second = some_trials(some_cases(1), {("case-0", "v3"): a_good_trace("case-0", "v3", report=WRONG)})

    assert case_means((*first, *second), "v3", "root_cause.hit") == {"case-0": 0.5}


@pytest.mark.parametrize("label", ["exact", "frontier", "unrecorded", "failed"])
def test_every_trial_is_counted_under_its_label(label):
    trials = some_trials(some_cases(1), {("case-0", "v3"): a_good_trace("case-0", "v3", provenance=label)})

    coverage = coverage_of(trials, "v3")

    assert (getattr(coverage, label), coverage.total) == (1, 1)
