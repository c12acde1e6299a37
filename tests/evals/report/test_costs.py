"""What a trial costs, variant by variant."""

from evals.report.view.costs import COLUMNS, what_it_costs
from evals.scorers import SCORERS
from tests.builders.run import a_run, a_scorer_info, a_summary, a_trial
from tests.builders.trace import a_trace

UNITS = {scorer.name: scorer.unit for scorer in SCORERS}
INFOS = [a_scorer_info(name, unit=UNITS[name], better="lower") for name in COLUMNS]


def test_every_column_is_a_score_there_is():
    assert COLUMNS.keys() <= UNITS.keys()


def test_every_mean_stands_with_the_cases_it_rests_on():
    summaries = [
        a_summary(name, scorer, hits=None, mean=2.5, n=7, total=8) for name in ("v2", "v3") for scorer in COLUMNS
    ]
    first = what_it_costs(a_run(scorers=INFOS, summaries=summaries)).rows[0]

    counts, tokens, dollars, seconds = "2.5 n=7/8", "2 n=7/8", "2.5000 USD n=7/8", "2.5 s n=7/8"
    assert first == ("v2", "1/1", counts, counts, tokens, dollars, seconds, counts, counts)


def test_what_nobody_scored_costs_is_not_nothing():
    unknown = [a_summary(name, scorer, hits=None, mean=None, n=0) for name in ("v2", "v3") for scorer in COLUMNS]

    assert set(what_it_costs(a_run(scorers=INFOS, summaries=unknown)).rows[0][2:]) == {"n/a n=0/1"}


def test_means_over_different_cases_are_called_that():
    both = [a_trial(a_trace(variant="v2", case_id=case)) for case in ("a", "b")]
    one = [a_trial(a_trace(variant="v3", case_id="a")), a_trial(_off_the_tape("b"))]
    none = [a_trial(_off_the_tape(case)) for case in ("a", "b")]

    assert "variants with other n rest on other cases" in what_it_costs(a_run(*both, *one)).caption
    assert "other cases" not in what_it_costs(a_run(*both, *none)).caption


def _off_the_tape(case: str):
    return a_trace("investigator", variant="v3", case_id=case, provenance="frontier", frontier=1)
