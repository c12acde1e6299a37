"""A recording as a process of its own, small enough to be killed fifty times: `python -m` this module URL PATH N.

It asks N questions, four at a time, through the real recorder and a real socket, and prints each as soon as it has been
told the answer. What goes wrong is one line on stderr and the exit code of the error, as of `evals` itself.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport, take_staged
from evals.errors import EvalsError
from tests.builders.forked import Forked
from tests.builders.interaction import CHAT, a_chat_request, a_recorder

REPOSITORY = Path(__file__).parents[2]
QUESTIONS = 30
AT_ONCE = 4


def recording(url: str, path: Path, questions: int = QUESTIONS, before: Callable[[], None] | None = None) -> Forked:
    """The process, begun; `before` runs in it first (to give it less of something)."""
    return Forked(main, url.removesuffix("/v1"), str(path), str(questions), before, cwd=REPOSITORY)


async def record(url: str, path: Path, questions: int) -> None:
    """Ask them all, four at a time."""
    take_staged(path)
    gate = asyncio.Semaphore(AT_ONCE)
    transport = RecordingTransport(
        a_recorder(stopwatch=lambda: 0.0, slots=asyncio.Semaphore(AT_ONCE)), httpx2.AsyncHTTPTransport()
    )
    async with httpx2.AsyncClient(transport=transport, base_url=url, timeout=60) as client:
        print("ready", flush=True)

        async def one(number: int) -> None:
            async with gate:
                answer = await client.post(CHAT, json=a_chat_request(f"q{number}"))
                print(f"q{number} {said(answer.json())}", flush=True)

        with playing(Tape(load(path))):
            async with asyncio.TaskGroup() as group:
                for number in range(questions):
                    group.create_task(one(number))


def said(answer: dict[str, Any]) -> str:
    """The words of an answer."""
    return str(answer["choices"][0]["message"]["content"])


def main(url: str, path: str, questions: str, before: Callable[[], None] | None = None) -> int:
    """The exit code `evals` would give."""
    if before is not None:
        before()
    try:
        asyncio.run(record(url, Path(path), int(questions)))
    except ExceptionGroup as group:
        first = group.exceptions[0]
        if not isinstance(first, EvalsError):
            raise
        print(f"evals: {first}", file=sys.stderr)
        return first.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
