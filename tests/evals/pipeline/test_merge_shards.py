"""Shards put together: whole and once, or a line that says what is wrong."""

import pytest

from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run_request import SuiteSelection
from evals.pipeline.sharded_run import check, join
from tests.builders.shards import RESTS_ON, a_plan, a_shard, some_shards
from tests.builders.trace import a_trace

OTHER = SuiteSelection(suite="tiny", settings={"guards": "prd"})


REFUSED = {
    "missing": ((a_shard(1, 3),), CannotJudgeError, r"2 of 3 shards missing: 2, 3; make each with `evals run tiny"),
    "twice": ((a_shard(1), a_shard(2), a_shard(1)), ConfigurationError, r"c.json: is shard 1 of 2, and so is a.json"),
    "other options": (
        (a_shard(1), a_shard(2, asked=OTHER)),
        ConfigurationError,
        r"b.json: of another run than a.json \(settings: {.guards.: .prd.}, not {}\)",
    ),
    "other number": (
        (a_shard(1), a_shard(2, 3)),
        ConfigurationError,
        r"b.json: of another run than a.json \(number of shards: 3, not 2\)",
    ),
}


@pytest.mark.parametrize(("shards", "kind", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_shards_that_are_not_one_whole_run_are_refused(shards, kind, said):
    with pytest.raises(kind, match=said):
        check(some_shards(*shards))


def test_a_shard_that_lost_a_trial_is_never_taken_for_whole():
    whole = a_shard(1)
    cut = whole.model_copy(update={"traces": dict(list(whole.traces.items())[:-1])})

    with pytest.raises(CannotJudgeError, match=r"no shard holds case-0 under v3, sample 0"):
        join(some_shards(cut, a_shard(2)), RESTS_ON, a_plan())


FOREIGN = {
    "unknown": lambda traces: traces | {"0" * 64: a_trace()},
    "swapped": lambda traces: dict(zip(traces, reversed(traces.values()), strict=True)),
    "of the other shard": lambda traces: traces | a_shard(2).traces,
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_trial_that_is_not_of_its_shard_is_never_counted(change):
    edited = a_shard(1, traces=change(a_shard(1).traces))

    with pytest.raises(CannotJudgeError, match="holds a trial that is not of this shard"):
        join(some_shards(edited, a_shard(2)), RESTS_ON, a_plan())
