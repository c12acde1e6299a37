"""Results of rounds, written as they come in: one JSON object a line."""

import hashlib
import json
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Failure:
    """A test that failed, and the first line of why."""

    test: str
    line: str


@dataclass(frozen=True)
class Round:
    """One run of the suite. `tests` were run, skipped ones included; `seconds` are of wall-clock time."""

    number: int
    seed: int
    how: str
    seconds: float
    tests: int
    failures: Sequence[Failure]


@dataclass
class Results:
    """The rounds that are over. The first line of the file names code, arguments of pytest, and first seed."""

    path: Path
    seed: int
    done: list[Round] = field(default_factory=list)

    @classmethod
    def opened(cls, path: Path, seed: int | None, pytest_args: Sequence[str]) -> Self:
        """Those of `path` if they are of this code and these arguments (and this seed, if one is given); else a new
        file in its place."""
        wanted = {"code": code_digest(), "pytest": list(pytest_args)}
        lines = _lines(path)
        if lines and {name: lines[0].get(name) for name in wanted} == wanted and seed in {None, lines[0]["seed"]}:
            return cls(path, lines[0]["seed"], [_round(line) for line in lines[1:]])
        seed = int(time.time()) if seed is None else seed
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**wanted, "seed": seed}) + "\n", encoding="utf-8")
        return cls(path, seed)

    def add(self, done: Round) -> None:
        """Keep it in the file and here."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(done)) + "\n")
        self.done.append(done)


def code_digest(root: Path = ROOT) -> str:
    """Of the commit and of all that is changed since or new, as git sees it."""
    parts = [
        subprocess.run(["git", *words], cwd=root, capture_output=True, check=True).stdout
        for words in (["rev-parse", "HEAD"], ["diff", "HEAD"], ["ls-files", "--others", "--exclude-standard"])
    ]
    untracked = [(root / name).read_bytes() for name in parts[2].decode().splitlines()]
    return hashlib.sha256(b"\0".join([*parts, *untracked])).hexdigest()[:16]


def table(rounds: Sequence[Round]) -> str:
    """The rounds as Markdown, and each test that failed with how often."""
    lines = ["| round | seed | how | minutes | tests | failures |", "|---:|---:|---|---:|---:|---:|"]
    for each in rounds:
        minutes = f"{each.seconds / 60:.1f}"
        lines.append(
            f"| {each.number} | {each.seed} | {each.how} | {minutes} | {each.tests:,} | {len(each.failures)} |"
        )
    failed = Counter(failure.test for each in rounds for failure in each.failures)
    lines += [f"\n{test}: failed in {times} of {len(rounds)} rounds" for test, times in failed.most_common()]
    return "\n".join(lines)


def _lines(path: Path) -> list[dict[str, Any]]:
    """Of a file that may be missing, or end in half a line."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def _round(line: dict[str, Any]) -> Round:
    return Round(**{**line, "failures": [Failure(**failure) for failure in line["failures"]]})
