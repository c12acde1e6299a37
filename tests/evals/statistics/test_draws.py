"""Clusters drawn with replacement."""

import tracemalloc

import numpy as np
import pytest

from evals.statistics.intervals import draws


def test_every_draw_has_as_many_clusters_as_there_are():
    (times,) = draws(7, 5, np.random.default_rng(0))

    assert times.sum(axis=1).tolist() == [7] * 5


def test_draws_in_blocks_are_those_of_one_block():
    """300,000 clusters come one draw at a time."""
    blocks = list(draws(300_000, 3, np.random.default_rng(0)))
    picks = np.random.default_rng(0).integers(0, 300_000, size=(3, 300_000))

    assert [len(block) for block in blocks] == [1, 1, 1]
    assert all(
        (np.bincount(row, minlength=300_000) == block[0]).all() for row, block in zip(picks, blocks, strict=True)
    )


def test_many_cases_take_no_more_memory_than_few():
    """All at once, 400 draws of 20,000 clusters would be 64 MB of picks alone."""
    tracemalloc.start()
    for block in draws(20_000, 400, np.random.default_rng(0)):
        assert block.shape[1] == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 40_000_000


def test_a_block_drawn_again_is_the_same_and_leaves_the_generator_where_drawing_does():
    rngs = [np.random.default_rng(5) for _ in range(3)]
    (first,) = draws(11, 6, rngs[0])
    (second,) = draws(11, 6, rngs[1])
    rngs[2].integers(0, 11, size=(6, 11))

    assert second is first
    assert rngs[0].random() == rngs[1].random() == rngs[2].random()


def test_a_generator_in_another_state_draws_something_else():
    rng = np.random.default_rng(5)
    (first,), (second,) = draws(11, 6, rng), draws(11, 6, rng)

    assert (first != second).any()


def test_what_is_kept_cannot_be_written_to():
    (times,) = draws(11, 6, np.random.default_rng(5))

    with pytest.raises(ValueError, match="read-only"):
        times[0, 0] = 9
