"""The page of a sweep: what was recommended, told apart from what could not be."""

from evals.triage.sweep.sweep_page import render_sweep, sweep_page
from evals.triage.sweep.sweep_result import Recommendation, Sweep
from tests.builders.sweep import a_behaviour, a_split_summary

CHOSEN = "hardened 0.80/1.00/2"


def a_sweep(*behaviours, **fields):
    """Off and 0.80, of which 0.80 scores better and is recommended."""
    found = behaviours or (a_behaviour(None, a_split_summary(0.4)), a_behaviour(0.8, a_split_summary(0.6, calls=12)))
    told = {
        "suite": "thresholds",
        "variant": "v2",
        "present": "hardened off",
        "score": "route.score",
        "coverage_floor": 1.0,
        "recorded_by": ("a-model",),
        "cases": {"tune": 4, "gate": 4},
        "points": 2,
        "executed": 9,
        "front": tuple(one.name for one in found),
        "recommendation": Recommendation(
            status="recommended", exit_code=0, sentence="Work at 0.80.", behaviour=found[-1].name
        ),
    }
    return Sweep.model_validate({"behaviours": found, **told, **fields})


def test_the_rows_mark_where_things_stand_and_where_to_go():
    rows = [row[0] for row in sweep_page(a_sweep()).behaviours.rows]

    assert rows == ["hardened off (now)", f"{CHOSEN} (recommended)"]


def test_a_point_off_the_tape_shows_what_it_rests_on():
    page = sweep_page(a_sweep(a_behaviour(None), a_behaviour(0.8, a_split_summary(0.6, exact=3))))

    assert page.grids[0].rows == (("0.80", "60 % (3/4)"),)


def test_what_nobody_recorded_is_no_dot():
    page = sweep_page(a_sweep(a_behaviour(None), a_behaviour(0.8, a_split_summary(None, exact=0))))

    assert len(page.front.dots) == 1


def test_without_any_recorded_point_there_is_no_empty_plot():
    front = sweep_page(a_sweep(a_behaviour(None, a_split_summary(None, exact=0)))).front

    assert front.cannot == "cannot judge: no behaviour is recorded for a tune case"


def test_the_front_is_joined_and_every_score_has_its_interval():
    front = sweep_page(a_sweep()).front

    assert len(front.lines[0].points.split()) == len(front.dots) == len(front.whiskers) == 2
    assert [dot.kind for dot in front.dots] == ["front", "front chosen"]
    assert front.rests_on == "2 of 2 behaviours, 4 tune cases"


def test_the_page_is_one_file_that_loads_nothing_and_runs_nothing():
    page = render_sweep(a_sweep())

    assert "default-src &#39;none&#39;" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_hostile_name_is_inert():
    page = render_sweep(a_sweep(suite="<img src=x onerror=alert(1)>"))

    assert "<img" not in page
