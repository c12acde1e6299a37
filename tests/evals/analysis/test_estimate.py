"""Numbers of old baselines are those their own runs printed, with the same intervals."""

import json

import pytest

from evals.analysis.history_baselines import LabelSet, read_stored
from evals.analysis.history_summary import estimates, unknown_gold
from evals.comparison.baseline import make_baseline
from evals.comparison.summary import summarise
from evals.models.metrics import Scored
from evals.models.run import PointInfo
from tests.builders.run import a_case_info, a_scorer_info, a_trial, a_variant_info
from tests.builders.trace import a_trace, an_answer

SCORERS = [a_scorer_info("route.pass"), a_scorer_info("decision.score", macro=True, open_loop=True)]
NODES = ("critic", "writer", "web_search")
CASES = [
    a_case_info(
        f"case-{number}",
        cluster=f"twins-{number // 2}",
        points=[
            PointInfo(id=f"p{place}", accept={node: 1.0, "codebase_search": 0.5}, why="so")
            for place, node in enumerate(NODES[: 1 + number % 3])
        ],
    )
    for number in range(10)
]
LABELS = {
    (case.id, case.digest): LabelSet({point.id: point.gold for point in case.points}, case.cluster) for case in CASES
}


def trials(passes):
    """Every case once: which pass is asked of `passes`; grades are 1, 0.5 and 0 in turn."""
    told = []
    for number, case in enumerate(CASES):
        chosen = [point.gold if (number + i) % 3 else "codebase_search" for i, point in enumerate(case.points)]
        answers = [an_answer(point.id, node) for point, node in zip(case.points, chosen, strict=True)]
        score = sum(point.accept.get(node, 0.0) for point, node in zip(case.points, chosen, strict=True))
        outcomes = {
            "route.pass": Scored(value=passes(number)),
            "decision.score": Scored(value=score / len(case.points)),
        }
        told.append(a_trial(a_trace(case_id=case.id, variant="v2", points=tuple(answers)), outcomes))
    return told


def stored_of(told):
    baseline = make_baseline("prompts", CASES, [a_variant_info("v2")], told)
    return read_stored(json.dumps(baseline.model_dump(mode="json")).encode(), tuple(one.name for one in SCORERS))


PASSES = {
    "some": lambda number: float(number % 4 != 0),
    "all": lambda _: 1.0,
    "samples that disagree": lambda number: (0.0, 0.5, 1.0)[number % 3],
}


@pytest.mark.parametrize("passes", PASSES.values(), ids=PASSES.keys())
def test_a_baseline_comes_to_the_numbers_of_the_run_it_was_blessed_from(passes):
    told = trials(passes)
    ours = estimates([stored_of(told)], LABELS, SCORERS)[0]
    theirs = summarise(told, CASES, ["v2"], SCORERS)

    for mine, own in zip(ours, theirs, strict=True):
        assert (mine.scorer, mine.n, mine.total, mine.hits) == (own.scorer, own.n, own.total, own.hits)
        assert (mine.mean, mine.low, mine.high) == pytest.approx((own.mean, own.low, own.high), abs=1e-12)


def test_grades_whose_labels_are_not_there_are_left_unsaid():
    stored = stored_of(trials(PASSES["some"]))
    labels = {**LABELS, (CASES[3].id, CASES[3].digest): None}

    (found,) = estimates([stored], labels, SCORERS)

    assert [one.mean is None for one in found] == [False, True]
    assert unknown_gold(stored, found, labels) == ["case-3"]


def test_states_that_labels_do_not_know_are_left_unsaid():
    stored = stored_of(trials(PASSES["some"]))
    fewer = LabelSet({}, CASES[3].cluster)
    labels = {**LABELS, (CASES[3].id, CASES[3].digest): fewer}

    assert estimates([stored], labels, SCORERS)[0][1].mean is None
