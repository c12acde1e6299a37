"""SIGKILL at random moments, to real processes: what was answered is kept, every file is whole, and a second try is as
good as if there had been no first.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

from evals.cassettes.cassette_files import load
from evals.errors import CassetteError
from tests.builders.checkout import a_checkout, evals
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.killable import begun
from tests.builders.llm_server import Answered, LlmServer, an_llm_server, answering
from tests.chaos.ground import copied, green
from tests.chaos.row import Row

RECORDER, REFRESH, OTHERS = 40, 20, 20
UNDER_WAY_S: Final = 0.25
"""An answer is said to be under way for so long after its last byte was sent: a machine that does nothing else has to
come round to it. What is kept is older than the kill by less than a hundredth of that, mostly."""
ENOUGH: Final = 50
"""Takes for a kill; mostly one has several."""
KILLED: Final = -9
LONG: Final = "It adds up what is there and forgets what came first, as line 12 shows. " * 400


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """All kinds of process."""
    dice = random.Random(seed)  # noqa: S311 - moments, not keys
    checkout = green(folder)
    return [
        *_recording(folder, "recorder", round(RECORDER * share) or 1, dice),
        *_recording(folder, "refresh", round(REFRESH * share) or 1, dice, checkout, "--refresh"),
        *(
            row
            for kind in (_runner, _merge, _bless)
            for row in kind(folder, checkout, round(OTHERS * share) or 1, dice)
        ),
    ]


def _recording(
    folder: Path, name: str, kills: int, dice: random.Random, recorded: Path | None = None, *options: str
) -> list[Row]:
    """Take after take is recorded, and killed on the way; what is lost of each is asked again by the next process."""
    sent = lost = half = spoilt = done = takes = 0
    checkout, serial = None, count(1)
    while done < kills or not sent:  # on a busy machine all answers of a kill may still be under way
        if checkout is None:
            takes += 1
            if takes > ENOUGH * kills:
                raise RuntimeError(f"{takes - 1} processes were over before they could be killed")
            place = folder / f"{name}-{takes}"
            checkout = copied(recorded, place) if recorded else a_checkout(place / "checkout")
        with an_llm_server(_unhurried(dice, serial)) as llm:
            words = ("record", "tiny.yaml", "--base-url", llm.base_url, *options)
            if (since := _killed(checkout, words, dice, llm)) is None:
                spoilt += evals(checkout, "plan", "tiny.yaml").code + evals(checkout, "cassette", "verify").code
                checkout = None
                continue
            done += 1
            there, broken = _kept(checkout)
            half += broken
            old = [number for when, number in llm.sent if when < since]
            sent += len(old)
            lost += len(set(old) - there)
    if checkout is not None:  # the last take comes to its end as well
        with an_llm_server() as llm:
            spoilt += evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url, *options).code
    what = f"kill -9 of `evals record{' --refresh' if options else ''}`"
    return [
        Row(f"{what}: answers it had been sent, lost", sent, lost),
        Row(f"{what}: half files", done, half),
        Row(f"{what}: recordings that did not come to their end afterwards", takes, int(spoilt > 0)),
    ]


def _killed(checkout: Path, words: tuple[str, ...], dice: random.Random, llm: LlmServer) -> float | None:
    """The process is killed after some answers and a moment. What was sent by the moment returned (monotonic seconds)
    was under way no longer; None if it was over before."""
    enough, after = threading.Event(), dice.randrange(1, 14)
    llm.heard = lambda heard: enough.set() if heard == after else None
    process = begun(checkout, *words)
    while process.is_alive() and not enough.wait(0.01):
        pass
    process.join(dice.uniform(0, 0.6))
    slower = _slower(process.pid)
    process.kill()
    at = time.monotonic()
    process.join()
    return at - UNDER_WAY_S * slower if process.exitcode == KILLED else None


def _slower(pid: int | None) -> float:
    """How many times longer a process takes than it would alone: it waits for a core when it could run."""
    try:
        ran, waited, _ = map(int, Path(f"/proc/{pid}/schedstat").read_text().split())
    except OSError:  # over, or no Linux
        return 1
    return 1 + waited / ran if ran else 1


def _unhurried(dice: random.Random, serial: Iterator[int]) -> Callable[[str, dict[str, Any]], Answered]:
    """Long answers, so that cassettes are as large as real ones and take their time to be written. Each has a number of
    its own, in the place of a count of tokens: a new answer to an old request is told from the old one."""
    said = {name: WORKER_REPLIES[name] for name in ("investigator", "codebase_search", "critic")}
    talking = answering(**{name: {**reply, "reasoning": LONG, "summary": LONG} for name, reply in said.items()})  # type: ignore[dict-item]

    def answer(agent: str, body: dict[str, Any]) -> Answered:
        time.sleep(dice.uniform(0, 0.05))
        status, kind, content = talking(agent, body)  # type: ignore[misc]  # none of these does things to a connection
        told = json.loads(content)
        told["usage"]["prompt_tokens"] = next(serial)
        return status, kind, json.dumps(told).encode()

    return answer


def _kept(checkout: Path) -> tuple[set[int], int]:
    """The numbers of all answers on disk, and how many files cannot be read."""
    numbers: set[int] = set()
    broken = 0
    for path in _tapes(checkout):
        try:
            numbers |= {found.usage.prompt_tokens for found in load(path).interactions}
        except CassetteError:
            broken += 1
    return numbers, broken


def _tapes(checkout: Path) -> Iterator[Path]:
    yield from (checkout / "cassettes").glob("*.yaml")
    waiting = checkout / ".cache" / "recording"
    yield from waiting.rglob("*.yaml")
    yield from waiting.rglob(".*.arrived")


def _runner(folder: Path, checkout: Path, kills: int, dice: random.Random) -> list[Row]:
    return _again(
        "evals run",
        folder,
        checkout,
        kills,
        dice,
        ("run", "tiny.yaml", "--jobs", "1"),
        ("reports/latest",),
        [".cache", "reports"],
    )


def _merge(folder: Path, checkout: Path, kills: int, dice: random.Random) -> list[Row]:
    shards = [f"shards/{number}.json" for number in (1, 2)]
    for number, path in enumerate(shards, 1):
        evals(checkout, "run", "tiny.yaml", "--shard", f"{number}/2", "--out", path)
    words = ("gate", "--shards", *shards, "--out", "merged")
    return _again("evals gate --shards", folder, checkout, kills, dice, words, ("merged",), ["merged"])


def _bless(folder: Path, checkout: Path, kills: int, dice: random.Random) -> list[Row]:
    words = ("bless", "tiny.yaml", "--jobs", "1")
    return _again("evals bless", folder, checkout, kills, dice, words, ("evals/suites/baselines",), ["evals"])


def _again(
    what: str,
    folder: Path,
    checkout: Path,
    kills: int,
    dice: random.Random,
    words: tuple[str, ...],
    results: tuple[str, ...],
    gone: list[str],
) -> list[Row]:
    """Killed at any moment of its life, then run again: what is there in between is old or new, and new in the end."""
    place = folder / what.replace(" ", "-")
    began = time.monotonic()
    _joined(copied(checkout, place), words)
    life = time.monotonic() - began
    due = _written(place / "checkout", results)
    half = other = done = 0
    while done < kills:
        work = copied(checkout, place)
        for name in gone:
            if (work / name).exists():
                (work / name).rename(work / f"{name}.before")
        before = _written(work, results)
        process = begun(work, *words)
        process.join(dice.uniform(0, life))
        process.kill()
        process.join()
        if process.exitcode != KILLED:
            continue
        done += 1
        now = _written(work, results)
        half += any(now[name] not in (before.get(name), due[name]) for name in now if name in due)
        _joined(work, words)
        other += _written(work, results) != due
    return [
        Row(f"kill -9 of `{what}`: half files", done, half),
        Row(f"kill -9 of `{what}`: another result afterwards", done, other),
    ]


def _joined(checkout: Path, words: tuple[str, ...]) -> None:
    process = begun(checkout, *words)
    process.join()


def _written(checkout: Path, folders: tuple[str, ...]) -> dict[str, bytes]:
    found = (path for folder in folders for path in sorted((checkout / folder).rglob("*")))
    return {
        path.relative_to(checkout).as_posix(): path.read_bytes()
        for path in found
        if path.is_file() and not path.name.startswith(".")
    }
