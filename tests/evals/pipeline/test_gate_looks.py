"""Looks at the gate cases: each is counted once, and the more there were the less alpha is left for the next."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from evals.errors import DatasetError
from evals.pipeline.load_suite import read_openings
from evals.pipeline.optimize_prompts import count_look, gains, look_alpha
from tests.bench.gate_looks import GATE_CASES, false_gains, power
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_report

RUNS = 400
TODAY = date(2026, 11, 27)


def test_all_looks_together_never_spend_more_than_alpha():
    spent = [look_alpha(0.05, look) for look in range(1, 10_001)]

    assert 0.0499 < sum(spent) < 0.05
    assert spent == sorted(spent, reverse=True)
    assert spent[:2] == pytest.approx([0.05 / 2, 0.05 / 6])


def test_looks_are_counted_and_the_same_comparison_is_no_second_look(tmp_path):
    path = tmp_path / "gate_looks.yaml"
    numbers = [count_look(path, "prompts", what, TODAY) for what in ("a", "b", "a")]

    assert (numbers, len(read_openings(path))) == ([1, 2, 1], 2)


def test_two_looks_at_once_count_as_two(tmp_path):
    path = tmp_path / "gate_looks.yaml"
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda n: count_look(path, "prompts", f"look {n}", TODAY), range(8)))

    assert (sorted(numbers), len(read_openings(path))) == (list(range(1, 9)), 8)


def test_a_count_that_cannot_be_read_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "gate_looks.yaml"
    path.write_text("openings:\n  - {day: 3}\n", encoding="utf-8")

    with pytest.raises(DatasetError, match=r"gate_looks\.yaml:2: "):
        count_look(path, "prompts", "a", TODAY)


@pytest.mark.parametrize("look", [1, 2, 5, 20])
def test_a_candidate_is_called_better_where_its_p_is_at_most_the_alpha_of_its_look(look):
    """The simulation below decides so, by one test. With n of 20 cases gained and none lost p is 2 to the power of -n;
    all cases are in one slice, which is no test beside that of its metric."""
    cases, wrong = some_cases(20), a_report("pkg/io.py", ("pkg/io.py",))

    def better(gained):
        lost = {(each.id, "v2"): a_good_trace(each.id, "v2", report=wrong) for each in cases[:gained]}
        return bool(gains(some_material(cases, some_trials(cases, lost), baseline=None), look_alpha(0.05, look)))

    assert [better(n) for n in range(16)] == [0.5**n <= look_alpha(0.05, look) for n in range(16)]


def test_of_50_useless_candidates_one_is_called_better_in_at_most_5_of_100_runs():
    """Without the correction it happens in most of them."""
    by_looks, uncorrected = false_gains(RUNS)

    assert by_looks / RUNS <= 0.05
    assert uncorrected / RUNS > 0.5


def test_a_better_candidate_is_found_less_often_at_each_later_look():
    *by_look, at_alpha = power(GATE_CASES, 200)

    assert by_look == sorted(by_look, reverse=True)
    assert at_alpha > by_look[0] > 0.8
