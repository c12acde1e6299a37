"""Dealing trials out: every one to exactly one share, and to all shares alike many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import ConfigurationError
from evals.models.run_request import WHOLE, Share
from tests.builders.shards import a_plan, shares


@given(tasks=st.integers(0, 500), of=st.integers(1, 40))
def test_every_task_is_in_exactly_one_share_and_no_share_has_two_more_than_another(tasks, of):
    taken = [[task for task in range(tasks) if share.has(task)] for share in shares(of)]

    assert sorted(task for share in taken for task in share) == list(range(tasks))
    assert max(map(len, taken)) - min(map(len, taken)) <= 1
    assert [len(mine) for mine in taken] == [share.size(tasks) for share in shares(of)]


@given(cases=st.integers(1, 5), samples=st.integers(1, 3), of=st.integers(1, 9))
def test_the_trials_of_all_shares_are_those_of_the_whole(cases, samples, of):
    """By digest, since that is what a shard keeps them under; the variants of a case stay together."""
    whole, *parts = [a_plan(cases, samples, share) for share in (WHOLE, *shares(of))]

    assert len(whole) == sum(map(len, parts)) == 2 * cases * samples
    assert {trial: digest for part in parts for trial, digest in part.items()} == whole
    assert all((case, "v3", sample) in part for part in parts for case, name, sample in part if name == "v2")


def test_a_trial_that_is_skipped_is_stored_under_nothing():
    left_out = ("case-1", "v2", 0)

    assert a_plan(skipped=frozenset({left_out})) == {
        trial: kept for trial, kept in a_plan().items() if trial != left_out
    }


def test_a_share_is_written_as_number_and_of():
    assert (Share.parse("2/3"), str(Share.parse("2/3"))) == (Share(2, 3), "2 of 3")


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "1/0", "-1/3", "a/b", "1/2/3", " 1/2", "1/2\n", "1/9999999"])
def test_anything_else_is_a_clear_error(text):
    with pytest.raises(ConfigurationError, match="write NUMBER/OF, counted from 1, such as 2/3"):
        Share.parse(text)
