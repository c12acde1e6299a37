"""Calls and misses of a trial, as its trace keeps them."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby

from evals.cassettes.interaction import Cassette
from evals.cassettes.replay_misses import Ledger, nearest
from evals.models.trace import Call, Miss


def calls_of(ledger: Ledger, ends: Sequence[int] = (), in_order: str = "") -> tuple[Call, ...]:
    """The calls in order.

    Agents may ask for several things at once, and steps may run side by side; whose answer comes first is chance: calls
    of one superstep, or of one agent in a row, are ordered by agent and key.

    Args:
        ledger: what was served.
        ends: how many requests had been served when each superstep ended.
        in_order: an agent that asks one thing after the other.
    """
    steps = [bisect_left(ends, place + 1) for place in range(len(ledger.served))]
    placed = zip(steps, ledger.served, strict=True)
    in_a_row = (
        sorted((served for _, served in row), key=lambda one: (one.agent, "" if one.agent == in_order else one.key))
        for _, row in groupby(placed, key=lambda pair: (pair[0], "" if ends else pair[1].agent))
    )
    return tuple(
        Call(
            agent=served.agent,
            key=served.key,
            model=served.model,
            prompt_tokens=served.usage.prompt_tokens,
            completion_tokens=served.usage.completion_tokens,
            latency_ms=served.latency_ms,
            recorded_by=served.recorded_by,
        )
        for row in in_a_row
        for served in row
    )


def misses_of(ledger: Ledger, cassette: Cassette, decision: int) -> tuple[Miss, ...]:
    """The misses, by agent and key; `decision` is the number of decisions complete before them."""
    return tuple(
        Miss(
            key=missed.key,
            agent=missed.agent,
            method=missed.method,
            path=missed.path,
            model=missed.model,
            decision=decision,
            characters=len(missed.body),
            nearest=nearest(missed, cassette),
        )
        for missed in sorted(ledger.misses, key=lambda missed: (missed.agent, missed.key))
    )
