"""Score by threshold, a plot per guard set."""

from evals.triage.sweep.sweep_page import threshold_plots
from evals.triage.sweep.sweep_result import Behaviour, Recommendation, Sweep
from tests.builders.sweep import a_point, a_split_summary

TOLD = Recommendation(status="cannot recommend", exit_code=3, sentence="No.")


def a_sweep(*behaviours: Behaviour, present: str = "hardened 0.85/0.70/2", floor: float = 1.0) -> Sweep:
    """A sweep of eight tune cases."""
    return Sweep(
        suite="thresholds",
        variant="v2",
        present=present,
        score="route.score",
        coverage_floor=floor,
        recorded_by=("a-model",),
        cases={"tune": 8},
        points=len(behaviours),
        executed=8,
        behaviours=behaviours,
        front=(),
        recommendation=TOLD,
    )


def at(*points, **measure) -> Behaviour:
    """Points that behave alike."""
    return Behaviour(name=points[0].name, points=points, splits={"tune": a_split_summary(**measure)})


def test_a_plot_goes_along_the_thresholds_with_the_rest_as_it_is_now():
    (plot,) = threshold_plots(
        a_sweep(
            at(a_point(0.85, 0.7), score=0.5),
            at(a_point(0.9, 0.7, findings=3), score=0.2),
            at(a_point(0.9, 0.5), score=0.1),
            at(a_point(0.9, 0.7), score=0.75),
        )
    )

    assert [(row[0], row[2].split(" ")[0]) for row in plot.table.rows] == [("0.85", "50"), ("0.90", "75")]
    assert plot.rests_on == "corroborated 0.70, 2 findings; 8 tune cases"


def test_every_value_has_its_interval():
    (plot,) = threshold_plots(a_sweep(at(a_point(0.8, 0.7)), at(a_point(0.85, 0.7))))

    assert len(plot.whiskers) == len(plot.dots) == 2


def test_without_a_floor_is_a_line_of_its_own():
    (plot,) = threshold_plots(a_sweep(at(a_point(0.8, 0.7)), at(a_point(0.85, 0.7)), at(a_point(), score=0.3)))

    assert [line.kind for line in plot.lines] == ["ideal", "curve"]
    assert "without a floor (dashed): 30 %" in plot.spoken


def test_a_point_recorded_for_too_few_cases_is_hollow():
    (plot,) = threshold_plots(a_sweep(at(a_point(0.8, 0.7)), at(a_point(0.85, 0.7), exact=2)))

    assert [dot.kind for dot in plot.dots] == ["", "hollow"]


def test_thresholds_nobody_recorded_are_no_empty_plot():
    (plot,) = threshold_plots(a_sweep(*(at(a_point(single, 0.7), score=None, exact=0) for single in (0.8, 0.85))))

    assert plot.cannot == "cannot judge: no threshold is recorded for a tune case"
