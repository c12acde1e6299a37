"""The first divergence of a case up close."""

from types import SimpleNamespace

from evals.models.run import Run
from evals.report.view.divergence_view import Pools, divergence_views, pools_for
from tests.builders.run import a_divergence, a_run, a_run_that_parts, a_trial, a_variant_info
from tests.builders.trace import a_decision, a_trace


def seen(run: Run, pools: Pools | None = None) -> tuple[SimpleNamespace, ...]:
    """The divergences of the run, all of one case."""
    traces = {(trial.trace.variant, trial.trace.sample): trial.trace for trial in run.trials}
    return divergence_views(run, run.divergences, traces, pools or pools_for(run))


def a_run_shown(was: str, now: str) -> Run:
    """Both variants decide once, each on its own message; v3 goes elsewhere."""
    trials = [
        a_trial(a_trace(node, variant=name, decisions=[a_decision(0, node, context=context)]))
        for name, node, context in (("v2", "critic", was), ("v3", "writer", now))
    ]
    return a_run(*trials, divergences=(a_divergence(decision=0),))


def test_both_answers_stand_side_by_side_the_reference_first():
    (view,) = seen(a_run_that_parts())

    assert [(side.variant, side.went, side.step.chosen) for side in view.sides] == [
        ("v2", "critic", "critic"),
        ("v3", "writer", "writer"),
    ]
    assert (view.number, view.what) == ("3", "critic skipped")


def test_a_way_that_had_ended_has_no_answer():
    short = a_trace("investigator", variant="v3")
    parted = a_divergence(decision=1, was="critic", now=None, what="stops before critic")
    (view,) = seen(a_run(a_trial(a_trace("investigator", "critic")), a_trial(short), divergences=(parted,)))

    assert (view.sides[1].went, view.sides[1].step) == ("had ended", None)


def test_what_each_was_shown_is_compared_line_by_line():
    run = a_run_shown("State\nReview: none\n", "State\nReview: APPROVED\n")
    pools = pools_for(run)
    (view,) = seen(run, pools)

    assert [(line.kind, line.text) for line in pools.changes.all()[int(view.shown)]] == [
        ("same", "State"),
        ("del", "Review: none"),
        ("ins", "Review: APPROVED"),
    ]


def test_a_divergence_its_trials_do_not_show_is_left_out():
    assert seen(a_run_that_parts(divergences=(a_divergence(decision=0),))) == ()


def test_the_candidates_divergence_comes_first():
    variants = [a_variant_info(name) for name in ("v1", "v2", "v3")]
    trials = [a_trial(a_trace("critic" if name == "v2" else "writer", variant=name)) for name in ("v1", "v2", "v3")]
    parted = tuple(a_divergence(decision=0, left=name) for name in ("v1", "v3"))
    views = seen(a_run(*trials, variants=variants, candidate="v3", reference="v2", divergences=parted))

    assert [view.left for view in views] == ["v3", "v1"]


def test_cases_that_part_alike_share_their_cause_and_their_diff():
    run = a_run_that_parts("a", "b")
    pools = pools_for(run)
    for case in ("a", "b"):
        traces = {(t.trace.variant, 0): t.trace for t in run.trials if t.trace.case_id == case}
        divergence_views(run, [item for item in run.divergences if item.case_id == case], traces, pools)

    assert len(pools.causes.all()) == 1


def test_a_baseline_is_shown_with_what_it_keeps_and_no_more():
    parted = a_divergence(right="v3 (baseline)", against="baseline", was="critic")
    (view,) = seen(a_run_that_parts(divergences=(parted,)))

    assert (view.name, view.state, view.shown) == ("v3 (baseline)", None, "")
    assert [(side.variant, side.went, side.step is None) for side in view.sides] == [
        ("v3 (baseline)", "critic", True),
        ("v3", "writer", False),
    ]
