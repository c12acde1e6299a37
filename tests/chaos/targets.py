"""Requests of a target that must not get out of a replay, and answers that must not reach another trial."""

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any, Final

from evals.target.drive import TargetCall
from tests.builders.model_server import model_server
from tests.builders.target_clients import CLIENTS, asking
from tests.builders.target_session import target_session
from tests.chaos.row import Row

TRIALS: Final = 400


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """Every client with no recording and with no trial, and a share of the trials side by side."""
    return asyncio.run(_rows(folder, max(len(CLIENTS), round(TRIALS * share)), random.Random(seed)))  # noqa: S311 - to be repeated


async def _rows(folder: Path, count: int, rng: random.Random) -> list[Row]:
    missed = outside = 0
    with target_session(folder) as session, model_server(lambda *_: "live") as (url, bodies):
        for client in CLIENTS:
            run = await session.replay(TargetCall(asking(client, url), {}))
            missed += run.ended != "missed" or bool(bodies)
            bodies.clear()
            await _outside(client, url)
            outside += bool(bodies)
            bodies.clear()
    side_by_side = await _side_by_side(folder, count, rng)
    return [
        Row("requests of a target that nobody recorded, answered all the same", len(CLIENTS), missed),
        Row("requests outside of a trial that reach a server", len(CLIENTS), outside),
        Row("trials side by side that hear the answer of another", count, side_by_side),
    ]


async def _outside(client: Any, url: str) -> None:
    with contextlib.suppress(Exception):
        await client(url) if asyncio.iscoroutinefunction(client) else await asyncio.to_thread(client, url)


async def _side_by_side(folder: Path, count: int, rng: random.Random) -> int:
    """All clients ask the same; each has a cassette of its own with an answer of its own."""
    answers = (f"answer {number} of them" for number in range(len(CLIENTS)))
    paths = [folder / f"client-{number}.yaml" for number in range(len(CLIENTS))]
    with target_session(folder) as session:
        with model_server(lambda *_: next(answers)) as (url, _):
            calls = [TargetCall(asking(client, url), {}) for client in CLIENTS]
            recorded = [await session.record(call, path) for call, path in zip(calls, paths, strict=True)]
        chosen = [rng.randrange(len(CLIENTS)) for _ in range(count)]
        found = await asyncio.gather(*(session.replay(calls[each], paths[each]) for each in chosen))
    return sum(run != recorded[each] or run.ended != "finished" for each, run in zip(chosen, found, strict=True))
