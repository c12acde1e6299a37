"""Levels scored over instances."""

import numpy as np
import pytest

from evals.triage.localisation.localisation_scores import score


def a_level(gold, predictions, ks=(1, 3)):
    def rows(named):
        return {name: {"file": tuple(files)} for name, files in named.items()}

    [level] = score(rows(gold), rows(predictions), ks)
    return level


def values(level):
    return {metric.name: metric.value for metric in level.metrics}


def test_a_whole_table_by_hand():
    """i1 finds its two files at ranks 1 and 3; i2 its only one at rank 2; i3 has no prediction."""
    gold = {"i1": ["a", "b"], "i2": ["c"], "i3": ["d"]}

    level = a_level(gold, {"i1": ["a", "x", "b"], "i2": ["x", "c"]})

    assert values(level) == pytest.approx(
        {
            "Hit@1": 1 / 3,
            "Hit@3": 2 / 3,
            "Acc@1": 0,
            "Acc@3": 2 / 3,
            "Acc (LocAgent)@1": 1 / 3,
            "Acc (LocAgent)@3": 2 / 3,
            "MRR": (1 + 1 / 2 + 0) / 3,
            "MAP": ((1 + 2 / 3) / 2 + 1 / 2 + 0) / 3,
            "precision": (2 / 3 + 1 / 2 + 0) / 3,
            "recall": (1 + 1 + 0) / 3,
            "F1": (0.8 + 2 / 3 + 0) / 3,
        }
    )


def published_accuracy(gold, ranked, k, longest):
    """LocAgent's published evaluation in its own terms: two 0/1 vectors of `longest` places, cut at k, compared."""
    places = [1 if place < len(gold) else 0 for place in range(longest)]
    found = [1 if place < len(ranked) and ranked[place] in gold else 0 for place in range(longest)]
    return sum(found[:k]) == sum(places[:k])


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_locagents_accuracy_is_that_of_its_published_evaluation(k):
    rng = np.random.default_rng(1)
    names = [str(number) for number in range(8)]
    gold = {f"i{n}": list(rng.choice(names, rng.integers(1, 6), replace=False)) for n in range(200)}
    ranked = {name: list(rng.permutation(names)[: rng.integers(0, 8)]) for name in gold}

    level = a_level(gold, ranked, (k,))

    expected = sum(published_accuracy(gold[name], ranked[name], k, 5) for name in gold)
    assert next(metric for metric in level.metrics if metric.name == f"Acc (LocAgent)@{k}").hits == expected


def test_an_instance_without_a_prediction_is_wrong_and_counted():
    level = a_level({"i1": ["a"], "i2": ["b"]}, {"i1": ["a"]})

    assert (level.scored, level.unpredicted, values(level)["Hit@1"]) == (2, 1, 0.5)


def test_an_instance_without_gold_is_counted_apart():
    level = a_level({"i1": ["a"], "i2": [], "i3": []}, {"i1": ["a"], "i2": [], "i3": ["x"]})

    assert (level.scored, level.empty, level.silent, values(level)["Hit@1"]) == (1, 2, 1, 1)


def test_gold_that_does_not_speak_of_a_level_is_left_out_of_it():
    gold = {"i1": {"file": ("a",), "function": ("a::f",)}, "i2": {"file": ("b",)}}
    named = {"i1": {"file": ("a",), "function": ("a::f",)}}

    function = score(gold, named, (1,))[1]

    assert (function.level, function.scored, function.unlabelled) == ("function", 1, 1)


def test_a_level_that_nobody_predicted_is_not_scored():
    gold = {"i1": {"file": ("a",), "function": ("a::f",)}}

    assert [level.level for level in score(gold, {"i1": {"file": ()}}, (1,))] == ["file"]


def test_every_number_has_an_interval_around_it():
    gold = {f"i{n}": [f"a{n}"] for n in range(20)}

    level = a_level(gold, {f"i{n}": [f"a{n // 2}"] for n in range(20)} | {"i0": ["a0"]})

    assert all(metric.interval.low <= metric.value <= metric.interval.high for metric in level.metrics)


def test_no_instance_is_no_number():
    level = a_level({"i1": []}, {"i1": ["x"]})

    assert {(metric.value, metric.interval, metric.n) for metric in level.metrics} == {(None, None, 0)}


def test_equal_means_have_equal_intervals():
    """One named file at most, and one gold: precision, recall, MRR, MAP and F1 are the same thing."""
    level = a_level({f"i{n}": ["a"] for n in range(9)}, {f"i{n}": ["a"] for n in range(4)})

    assert len({metric.interval for metric in level.metrics if metric.hits is None}) == 1


def test_saying_nothing_at_all_is_not_naming_nothing():
    """Where there is nothing to find, only a prediction can be right about it."""
    level = a_level({"i1": ["a"], "i2": [], "i3": []}, {"i1": ["a"], "i2": []})

    assert (level.empty, level.silent) == (2, 1)
