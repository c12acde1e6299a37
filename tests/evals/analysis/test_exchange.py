"""The exact test: which of the answers to a request are the fresh ones is, under the null, any choice."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from evals.analysis.drift_statistics import AnswerPool, exceeds_p, shift_p

ALIKE = AnswerPool(("a", "a"), ("a",))
FRESH_ALONE = AnswerPool(("a", "a"), ("b",))
REPEAT_ALONE = AnswerPool(("a", "b"), ("a",))


def test_of_three_answers_the_fresh_one_is_alone_by_chance_once_in_three():
    assert exceeds_p([FRESH_ALONE]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("repeats", [0, 1, 5])
def test_with_three_answers_each_it_is_the_binomial_test_of_one_third(repeats):
    pools = [FRESH_ALONE] * 7 + [REPEAT_ALONE] * repeats + [ALIKE] * 20

    assert exceeds_p(pools) == pytest.approx(binom.sf(6, 7 + repeats, 1 / 3))


@pytest.mark.parametrize("seed", range(12))
def test_any_answers_give_the_p_of_listing_every_choice(seed):
    """Held against brute force, over requests with different numbers of answers."""
    rng = np.random.default_rng(seed)
    sizes = [(3, 2), (4, 1), (2, 1), (1, 2)]
    pools = [AnswerPool(tuple(rng.choice(list("abc"), k)), tuple(rng.choice(list("abc"), m))) for k, m in sizes]
    observed = sum(pool.apart - pool.noise for pool in pools)
    sums = [sum(picked) for picked in product(*map(every_choice, pools))]

    assert exceeds_p(pools) == pytest.approx(np.mean([found >= observed - 1e-9 for found in sums]))


def every_choice(pool):
    values, fresh = [*pool.recorded, *pool.fresh], len(pool.fresh)
    picks = [pick for pick in product((0, 1), repeat=len(values)) if sum(pick) == fresh]
    made = [
        AnswerPool(
            tuple(v for v, p in zip(values, pick, strict=True) if not p),
            tuple(v for v, p in zip(values, pick, strict=True) if p),
        )
        for pick in picks
    ]
    return [each.apart - each.noise for each in made]


def test_a_single_answer_on_either_side_tells_no_noise():
    assert not AnswerPool(("a",), ("b",)).told
    assert exceeds_p([AnswerPool(("a",), ("b",))] * 50) == 1.0


def test_a_shift_of_numbers_has_the_p_of_scipys_permutation_test():
    rng = np.random.default_rng(7)
    was, now = rng.normal(0.7, 0.1, 9), rng.normal(0.78, 0.1, 9)
    exact = permutation_test((now, was), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)

    found = shift_p([((a,), (b,)) for a, b in zip(was, now, strict=True)], np.random.default_rng(1))

    assert found == pytest.approx(exact.pvalue, abs=0.015)
