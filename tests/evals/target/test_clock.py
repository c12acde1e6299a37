"""Frozen clock and seeded random numbers."""

import asyncio
import random
import secrets
import time
import uuid
from datetime import UTC, datetime

import numpy as np
import pytest

from evals.errors import ConfigurationError
from evals.target.clock_and_random import frozen_clock, parse_clock, seeded


def test_the_clock_stands_still_inside_the_block_only() -> None:
    with frozen_clock("2026-01-05T09:00:00Z"):
        first = datetime.now(UTC)
        assert first == datetime(2026, 1, 5, 9, tzinfo=UTC)
        assert time.time() == first.timestamp()
    assert datetime.now(UTC) != first


async def test_timeouts_work_while_the_clock_stands_still() -> None:
    with frozen_clock("2026-01-05T09:00:00Z"), pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.sleep(60), timeout=0.01)


@pytest.mark.parametrize("text", ["tomorrow", "2026-01-05T09:00:00"])
def test_a_clock_that_is_no_time_or_has_no_zone_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="write it as 2026-01-05T09:00:00Z"):
        parse_clock(text)


def drawn() -> tuple[object, ...]:
    return uuid.uuid4(), random.random(), random.choice(range(1000))  # noqa: S311 - what a target may do


async def test_trials_side_by_side_draw_their_own_numbers() -> None:
    async def trial(seed: str) -> list[tuple[object, ...]]:
        with seeded(seed):
            found = []
            for _ in range(3):
                found.append(await asyncio.to_thread(drawn))
                await asyncio.sleep(0)
            return found

    a, b, again = await asyncio.gather(trial("a"), trial("b"), trial("a"))

    assert a == again != b
    assert drawn() != drawn()


def test_what_another_module_draws_leaves_the_numbers_of_the_target_as_they_are():
    """A library that is imported in the first trial of a process draws then, and in no later trial."""
    library: dict[str, object] = {"__name__": "library", "uuid": uuid}
    with seeded("case"):
        alone = uuid.uuid4()
    with seeded("case"):
        exec("uuid.uuid4()", library)  # noqa: S102 - a module of another name
        beside = uuid.uuid4()

    assert alone == beside


def test_secrets_and_generators_of_numpy_that_a_trial_makes_are_seeded():
    def drawn():
        return secrets.token_hex(4), random.SystemRandom().random(), float(np.random.default_rng().random())

    found = []
    for _ in range(2):
        with seeded("case"):
            found.append(drawn())
    assert found[0] == found[1] != drawn()
