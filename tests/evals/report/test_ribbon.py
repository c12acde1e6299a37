"""A route as a row of letters."""

from evals.report.view.trial_view import letters_of, ribbon
from tests.builders.run import a_trial
from tests.builders.trace import a_trace


def strip(trial):
    return ribbon(trial, letters_of(trial.trace.route))


def test_every_visit_is_a_letter():
    stops = strip(a_trial(a_trace())).stops

    assert [stop.letter for stop in stops] == ["I", "C", "K", "Wr"]


def test_the_place_where_a_route_leaves_the_exemplar_is_marked():
    stops = strip(a_trial(a_trace("investigator", "web_search", "writer"), first_divergence=1)).stops

    assert [stop.diverges for stop in stops] == [False, True, False]
    assert "leaves the exemplar here" in stops[1].label


def test_visits_of_one_superstep_stand_side_by_side():
    row = strip(a_trial(a_trace("investigator", "codebase_search", "web_search", supersteps=[0, 1, 1])))

    assert [stop.beside for stop in row.stops] == [False, False, True]
    assert row.spoken == "investigator, codebase_search, web_search beside it"
