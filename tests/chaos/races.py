"""Files edited while a run is under way, and put back: no result may stand under a name it did not earn.

A run is started in a process of its own; at a seeded moment a file is spoilt, at a later one it is put back. Then the
run is asked again, as the files are and with the file spoilt, and once more with `--fresh`: both must say the same.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.builders.checkout import own_code
from tests.chaos.ground import RUN, copied, green
from tests.chaos.row import Row

RACES: Final = 4
"""Of each kind."""
WORDS: Final = ("run", "tiny.yaml", "--jobs", "2")
JUDGED: Final = frozenset({0, 1})


@dataclass(frozen=True)
class Edit:
    """A file below the folder of the checkout, or of the code beside it, and what becomes of it."""

    path: str
    spoil: Callable[[bytes], bytes]


def _text(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def spoil(content: bytes) -> bytes:
        if old not in content:
            raise RuntimeError(f"{old!r} is not there: this race leads nowhere")
        return content.replace(old, new, 1)

    return spoil


EDITS: Final = {
    "a prompt": Edit("checkout/mine.md", lambda content: content + b"\nBe brief.\n"),
    "a prompt of an agent": Edit("code/triage/prompts/agents/critic.md", lambda content: content + b"\nBe brief.\n"),
    "a cassette": Edit("checkout/cassettes/wrong-sum.yaml", _text(b"prompt_tokens: 1,", b"prompt_tokens: 7,")),
    "code of the graph": Edit("code/triage/agents/writer.py", lambda content: content + b"\nraise SystemError\n"),
    "code of a scorer": Edit(
        "code/evals/models/trace.py", _text(b"for visit in self.steps", b"for visit in self.visits")
    ),
    "an issue": Edit("checkout/datasets/triage/cases/wrong-sum/issue.md", _text(b"Two books", b"Six books")),
    "code of a dataset": Edit("checkout/datasets/codebases/shop/README.md", lambda content: content + b"\nMore.\n"),
}


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """Races of every kind, and what was edited unseen by its size and time."""
    ground = folder / "ground"
    shutil.move(green(folder), ground / "checkout")
    own_code(ground / "code")
    life = _warmed(ground)
    dice = random.Random(seed)  # noqa: S311 - moments, not keys
    found = []
    for name, edit in EDITS.items():
        tried = round(RACES * share) or 1
        against = sum(_race(copied(ground, folder / "race"), edit, life, dice) for _ in range(tried))
        found.append(Row(f"{name} edited during a run: another verdict afterwards than with --fresh", tried, against))
    hidden = _hidden(copied(ground, folder / "race"))
    return [*found, Row("code edited in equal size and time beside its bytecode: executed as before", 1, hidden)]


def _warmed(ground: Path) -> float:
    """Run once, so that bytecode is there; the seconds a run takes that replays everything."""
    _asked(ground, "--fresh")
    began = time.monotonic()
    _asked(ground, "--fresh")
    return time.monotonic() - began


def _race(place: Path, edit: Edit, life: float, dice: random.Random) -> bool:
    """Whether a run with an edit amid it left anything behind that a fresh one does not say."""
    path = place / edit.path
    good, bad = path.read_bytes(), edit.spoil(path.read_bytes())
    shutil.rmtree(place / "checkout" / ".cache")
    process = _begun(place)
    _at(process, dice.uniform(0, life * 0.8))
    path.write_bytes(bad)
    _at(process, dice.uniform(0.05, life * 0.5))
    path.write_bytes(good)
    process.wait()
    return any([_unlike_fresh(place), path.write_bytes(bad) and _unlike_fresh(place)])


def _at(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """So many seconds later, or when it has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _unlike_fresh(place: Path) -> bool:
    """Whether what is kept says something else than a fresh run; that nobody can judge is never wrong."""
    kept = _asked(place)
    return kept[0] in JUDGED and kept != _asked(place, "--fresh")


def _asked(place: Path, *words: str) -> tuple[int, Any]:
    process = _begun(place, *words)
    process.wait()
    path = place / "checkout" / RUN
    return process.returncode, json.loads(path.read_bytes())["trials"] if path.exists() else None


def _begun(place: Path, *words: str) -> "subprocess.Popen[bytes]":
    around = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place / "code"), "PYTHONSAFEPATH": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "evals", *WORDS, *words],
        cwd=place / "checkout",
        env=around,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _hidden(place: Path) -> int:
    """Whether a scorer that says less, of the same size and time as the one that was compiled, goes unnoticed."""
    path = place / "code" / "evals" / "triage" / "report_scorers.py"
    before, times = path.read_bytes(), path.stat()
    good = _asked(place, "--fresh")
    spoilt = before.replace(b"return", b"raise ", 1)
    path.write_bytes(spoilt)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return int(_asked(place) == good)
