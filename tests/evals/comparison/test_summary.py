"""Summaries: means over cases, not trials; and bounds that say what the rest could still change."""

import pytest

from evals.comparison.metric_summaries import case_means, coverage_of, summarise
from evals.scoring.registry import score_trials, scorer_infos
from tests.builders.case import a_case, a_point
from tests.builders.facts import a_good_trace, some_cases, some_trials
from tests.builders.trace import a_report, a_trace, an_answer

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


@pytest.mark.parametrize("scorer", ["root_cause.hit", "decision.score"])
def test_a_sample_off_the_tape_is_bounded_both_ways(scorer):
    """Of two samples of the only case one is known and right: at worst a half, at best a whole."""
    cases = some_cases(1)
    off = {"provenance": "frontier", "frontier": 1, "points": (an_answer(chosen=None),)}
    known, lost = (
        some_trials(cases, changed) for changed in ({}, {("case-0", "v3"): a_good_trace("case-0", "v3", **off)})
    )

    found = summarise((*known, *lost), cases, ("v3",), scorer_infos())

    (item,) = [each for each in found if each.scorer == scorer]
    assert (item.mean, item.n, item.pessimistic, item.optimistic) == (1.0, 1, 0.5, 1.0)


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


def decisions_of(*answers):
    """`decision.score` of one case per (gold node, answer); None: nobody recorded it."""
    cases = [a_case(f"c{n}", points=[a_point("p", **{gold: 1.0})]) for n, (gold, _) in enumerate(answers)]
    traces = [
        a_trace(case_id=f"c{n}", variant="v3", points=[an_answer("p", answer)]) for n, (_, answer) in enumerate(answers)
    ]
    infos = [info for info in scorer_infos() if info.name == "decision.score"]
    (found,) = summarise(score_trials({case.id: case for case in cases}, traces), cases, ("v3",), infos)
    return found


def test_decisions_are_averaged_by_gold_node():
    """Three of four right, all of them searches: a supervisor that only ever searches gets one half."""
    found = decisions_of(*[("codebase_search", "codebase_search")] * 3, ("writer", "codebase_search"))

    assert (found.mean, found.hits, found.n) == (0.5, None, 4)


def test_decisions_nobody_recorded_are_bounded_by_gold_node():
    """The only state whose gold is the writer is open: it is half of the score."""
    found = decisions_of(*[("codebase_search", "codebase_search")] * 3, ("writer", None))

    assert (found.mean, found.n, found.pessimistic, found.optimistic) == (1.0, 3, 0.5, 1.0)


def test_a_state_without_a_say_is_neither_scored_nor_open():
    """One right answer, and one state in which another plan's machine left nothing to answer."""
    cases = [a_case(f"c{n}", points=[a_point("p", codebase_search=1.0)]) for n in range(2)]
    traces = [
        a_trace(case_id=f"c{n}", variant="v3", points=[an_answer("p", "codebase_search", say=n == 0)]) for n in range(2)
    ]
    infos = [info for info in scorer_infos() if info.name == "decision.score"]

    (found,) = summarise(score_trials({case.id: case for case in cases}, traces), cases, ("v3",), infos)

    assert (found.mean, found.n, found.pessimistic, found.optimistic) == (1.0, 1, 1.0, 1.0)


def test_full_marks_keep_an_interval():
    """Drawn again, four right answers are always right; the mid-P interval of 4 of 4 allows for the fifth."""
    found = decisions_of(*[("codebase_search", "codebase_search")] * 4)

    assert (round(found.low, 2), found.high) == (0.47, 1.0)


def test_twins_are_drawn_together_in_the_interval_of_decisions():
    """Four right and four wrong: as twins they are four clusters, not eight, and the interval is wider."""
    apart, together = (interval_of_eight(paired) for paired in (False, True))

    assert together > apart


def interval_of_eight(paired):
    pairs = [f"pair-{n // 2}" if paired else None for n in range(8)]
    cases = [a_case(f"c{n}", points=[a_point("p", codebase_search=1.0)], pair_id=pair) for n, pair in enumerate(pairs)]
    traces = [
        a_trace(case_id=f"c{n}", variant="v3", points=[an_answer("p", "codebase_search" if n < 4 else "end")])
        for n in range(8)
    ]
    infos = [info for info in scorer_infos() if info.name == "decision.score"]
    (found,) = summarise(score_trials({case.id: case for case in cases}, traces), cases, ("v3",), infos)
    return found.high - found.low
