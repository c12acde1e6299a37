"""What `evals history` costs over 500 blessed baselines of 100 cases: part `history`.

The repository is generated: cases turn, labels and scorers change, the suite was renamed, one branch was merged and
another squashed. Git reads the commits itself (`git fast-import`), and packs them as a clone would have them.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.builders.blessed import State, a_repository, files_of
from tests.builders.checkout import started
from tests.builders.git import git

BASELINES = 500
CASES = 100
GOAL_S = 3.0
RENAMED, BRANCHED, MERGED, SQUASHED = 150, 300, 303, 400
_BEGAN = 1_700_000_000
_DAY = 86_400


def main(_suite: str) -> int:
    """Generate, then run the command three times. Returns 1 where it does not tell of every baseline and its branch."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = a_long_history(Path(scratch) / "checkout")
        print(f"history: {BASELINES} baselines of {CASES} cases under two variants, page and JSON written")
        times = []
        for _ in range(3):
            before = time.perf_counter(), sum(os.times()[2:4])
            said, complaint = started(folder, "history", "prompts").communicate()
            times.append(time.perf_counter() - before[0])
            print(f"  {times[-1]:.2f} s, {sum(os.times()[2:4]) - before[1]:.2f} s of them on a processor")
        page = (folder / "reports/history/index.html").stat().st_size / 2**20
        print(f"  best {min(times):.2f} s (goal {GOAL_S:.1f} s); the page has {page:.1f} MB")
        print("  " + (complaint or said.splitlines()[-1]))
        return int(f"{BASELINES} baselines, 2 of them on branches" not in said)


def a_long_history(folder: Path) -> Path:
    """The generated repository, its last commit checked out."""
    a_repository(folder)
    stream = b"".join(_stream())
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True)
    git(folder, "repack", "-adq")
    done = git(folder, "checkout", "--quiet", "--force", "main")
    assert done.returncode == 0, done.stderr
    return folder


def _stream() -> Iterator[bytes]:
    """What fast-import reads: 500 blessings, one commit each."""
    before: dict[str, str] = {}
    for number, state in enumerate(_states(), 1):
        files = files_of(state)
        side = BRANCHED <= number < MERGED - 1  # two baselines of a branch; the main line goes on beside it
        parent = BRANCHED - 1 if number == MERGED - 1 else number - 1
        yield _commit(number, parent, side=side, merged=MERGED - 2 if number == MERGED else None)
        yield from (b"D %s\n" % path.encode() for path in before if path not in files)
        for path, text in files.items():
            if before.get(path) != text or number == MERGED - 1:
                raw = text.encode()
                yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(raw), raw)
        before = files
    yield b"done\n"


def _commit(number: int, parent: int, *, side: bool, merged: int | None) -> bytes:
    what = "Squashed: three prompts" if number == SQUASHED else f"Baseline {number}"
    lines = [
        f"commit refs/heads/{'side' if side else 'main'}",
        f"mark :{number}",
        f"committer Ada <ada@example.invalid> {_BEGAN + number * _DAY} +0000",
        f"data {len(what)}",
        what,
        *([f"from :{parent}"] if parent else []),
        *([f"merge :{merged}"] if merged else []),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _states() -> Iterator[State]:
    chance = Random(7)  # noqa: S311 - a seed, so that every bench reads the same
    names = [f"case-{number:03}" for number in range(CASES)]
    scores = {name: float(chance.random() < 0.8) for name in names}
    state = State({"v3": scores, "v5": scores}, suite="starter")
    for number in range(1, BASELINES + 1):
        if number == RENAMED:
            state = replace(state, suite="prompts")
        if number % 60 == 0:
            state = replace(state, labels={**state.labels, **dict.fromkeys(chance.sample(names, 3), str(number))})
        if number % 175 == 0:
            state = replace(state, scorers=f"scorers-{number}")
        if number % 25 == 0:
            state = replace(state, prompts={**state.prompts, "v5": f"v5-{number}"})
        turned = chance.sample(names, 12 if number == SQUASHED else 2)
        now = state.passes["v5"]
        state = state.but("v5", {name: 1.0 - now[name] for name in turned})
        state = replace(state, grades={**state.grades, chance.choice(names): chance.choice([0.0, 0.5, 1.0])})
        yield state


if __name__ == "__main__":
    sys.exit(main(""))
