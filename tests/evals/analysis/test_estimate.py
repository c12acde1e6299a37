"""Numbers of old baselines are those their own runs printed, with the same intervals."""

import json

import pytest

from evals.analysis.history_summary import LabelSet, read_stored, summaries
from evals.comparison.baseline import make_baseline
from evals.comparison.metric_summaries import summarise
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
    return read_stored(json.dumps(baseline.model_dump(mode="json")).encode())


PASSES = {
    "some": lambda number: float(number % 4 != 0),
    "all": lambda _: 1.0,
    "samples that disagree": lambda number: (0.0, 0.5, 1.0)[number % 3],
}


@pytest.mark.parametrize("passes", PASSES.values(), ids=PASSES.keys())
def test_a_baseline_comes_to_the_numbers_of_the_run_it_was_blessed_from(passes):
    told = trials(passes)
    ours = summaries(stored_of(told), LABELS, SCORERS)
    theirs = summarise(told, CASES, ["v2"], SCORERS)

    for mine, own in zip(ours, theirs, strict=True):
        assert (mine.scorer, mine.n, mine.total, mine.hits) == (own.scorer, own.n, own.total, own.hits)
        assert (mine.mean, mine.low, mine.high) == pytest.approx((own.mean, own.low, own.high), abs=1e-12)


def test_grades_whose_labels_are_not_there_are_left_unsaid():
    stored = stored_of(trials(PASSES["some"]))
    labels = {**LABELS, (CASES[3].id, CASES[3].digest): None}

    assert [one.mean is None for one in summaries(stored, labels, SCORERS)] == [False, True]


def test_states_that_labels_do_not_know_are_left_unsaid():
    stored = stored_of(trials(PASSES["some"]))
    fewer = LabelSet({}, CASES[3].cluster)
    labels = {**LABELS, (CASES[3].id, CASES[3].digest): fewer}

    assert summaries(stored, labels, SCORERS)[1].mean is None


BROKEN = {
    "a conflict": b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n",
    "nothing": b"",
    "another document": b"[1, 2]",
    "no values": b"{}",
    "values that are no numbers": b'{"values": {"v5": {"a": {"route.pass": "yes"}}}}',
    "no number at all": b'{"values": {"v5": {"a": {"route.pass": NaN}}}}',
    "no UTF-8": b'{"values": {"\xff": {}}}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_baseline_is_none_and_no_crash(content):
    assert read_stored(content) is None


def test_a_baseline_from_before_decision_points_were_kept_has_no_value_of_them():
    stored = read_stored(b'{"values": {"v2": {"case-0": {"route.pass": 1.0}}}}')

    assert [one.mean for one in summaries(stored, {}, SCORERS)] == [1.0, None]
