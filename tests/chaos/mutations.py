"""Files damaged at random: each is refused (exit 3, or 2 for a file that is named), or made anew, or says the same.

A mutation is one of a disk or a careless hand; who edits a file together with its digest is not found out here, but by
git and review.
"""

import json
import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from evals.cassettes.cassette_files import load
from evals.comparison.baseline import load_baseline
from evals.content_cache import Kept
from evals.errors import CannotJudgeError, EvalsError
from evals.report.run_files import read_run, read_shard
from tests.builders.checkout import Said, evals
from tests.chaos.ground import RUN, copied, green
from tests.chaos.row import Row

CASSETTES, CACHES, READINGS, DELIVERED, SHARDS, BASELINES, RUNS = 250, 200, 60, 60, 150, 120, 120
ROUTES, SEARCHES, FINDINGS = 60, 60, 60
BLESSED: Final = "evals/suites/baselines/tiny.json"
Mutate = Callable[[bytes, random.Random], bytes]
Read = Callable[[Path], object]
"""Reads a file and believes it, or raises."""


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """All kinds of file."""
    dice = random.Random(seed)  # noqa: S311 - places, not keys
    checkout = copied(green(folder), folder / "mutated")
    shards = [f"shards/{number}.json" for number in (1, 2)]
    for number, path in enumerate(shards, 1):
        evals(checkout, "run", "tiny.yaml", "--shard", f"{number}/2", "--out", path)
    shutil.copy(checkout / RUN, checkout / "kept.json")
    run, lint = ("run", "tiny.yaml"), ("dataset", "lint")
    evals(checkout, *lint)
    kinds: tuple[tuple[str, int, str, Read, tuple[str, ...]], ...] = (
        ("a cassette", CASSETTES, "cassettes/*.yaml", load, run),
        ("an entry of .cache/read", READINGS, ".cache/read/*/*", _kept, (*run, "--fresh")),
        ("an entry of .cache/runs", DELIVERED, ".cache/runs/*/*", _kept, run),
        ("an entry of .cache/passing", ROUTES, ".cache/passing/*/*", _kept, (*run, "--fresh")),
        ("an entry of .cache/words", SEARCHES, ".cache/words/*/*", _kept, (*run, "--fresh")),
        ("an entry of .cache/lint", FINDINGS, ".cache/lint/*/*", _kept, lint),
        ("a shard", SHARDS, "shards/*.json", read_shard, ("gate", "--shards", *shards)),
        ("a baseline", BASELINES, BLESSED, load_baseline, run),
        ("a stored run.json", RUNS, "kept.json", read_run, ("gate", "kept.json")),
    )
    others = [_damaged(checkout, what, round(many * share) or 1, *how, dice) for what, many, *how in kinds]
    return [*others, of_trials(checkout, round(CACHES * share) or 1, dice)]


def of_trials(checkout: Path, many: int, dice: random.Random) -> Row:
    """Damaged entries of the cache of trials."""
    words = ("run", "tiny.yaml")
    return _damaged(checkout, "an entry of .cache/trials", many, ".cache/trials/*/*", _kept, words, dice)


def _kept(path: Path) -> bytes:
    found = Kept(path.parents[1]).get(path.name)
    if found is None:
        raise CannotJudgeError("made anew")
    return found


def _damaged(
    checkout: Path, what: str, many: int, where: str, read: Read, words: tuple[str, ...], dice: random.Random
) -> Row:
    """Where the file's own reader refuses it, every tenth is put to the whole command as well; else each is."""
    due = _told(checkout, evals(checkout, *words))
    files = sorted(path for path in checkout.glob(where) if path.is_file())
    against = 0
    for number in range(many):
        path = dice.choice(files)
        whole = path.read_bytes()
        spoilt = MUTATIONS[number % len(MUTATIONS)](whole, dice)
        path.write_bytes(spoilt)
        if number % 10 == 0 or not _refused(read, path):
            said = evals(checkout, *words)
            against += said.code not in {2, 3} and _told(checkout, said) != due
        path.write_bytes(whole)
    return Row(f"{what} damaged: another number without exit 3", many, against)


def _refused(read: Read, path: Path) -> bool:
    try:
        read(path)
    except EvalsError:
        return True
    return False


def _told(checkout: Path, said: Said) -> tuple[int, Any]:
    """The exit code, and all that the run came to; of a command that writes no run, its words."""
    if "Report: " not in said.out:
        return said.code, said.out
    told = json.loads((checkout / RUN).read_text(encoding="utf-8"))
    return said.code, told


def flip(content: bytes, dice: random.Random) -> bytes:
    """One bit; what is empty is no more."""
    if not content:
        return b"\0"
    place = dice.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :]


def other_digit(content: bytes, dice: random.Random) -> bytes:
    """One digit of a number is another one: still well-formed, and plausible."""
    places = [found.start() for found in re.finditer(rb"\d", content)]
    if not places:
        return flip(content, dice)
    place = dice.choice(places)
    digit = dice.choice([one for one in b"0123456789" if one != content[place]])
    return content[:place] + bytes([digit]) + content[place + 1 :]


def cut(content: bytes, dice: random.Random) -> bytes:
    """The end is lost."""
    return content[: dice.randrange(len(content))]


def lost_line(content: bytes, dice: random.Random) -> bytes:
    """A line, or in a file of one line a stretch, is lost."""
    start, end = _stretch(content, dice)
    return content[:start] + content[end:]


def doubled(content: bytes, dice: random.Random) -> bytes:
    """A line, or a stretch, stands there twice."""
    start, end = _stretch(content, dice)
    return content[:end] + content[start:]


def other_word(content: bytes, dice: random.Random) -> bytes:
    """One name or word is replaced by another one of the file."""
    words = re.findall(rb'"([^"\\\n]{2,40})"', content)
    if not words:
        return flip(content, dice)
    old, new = dice.choice(words), dice.choice(words)
    return content.replace(b'"' + old + b'"', b'"' + new + b'"', 1)


def truth(content: bytes, dice: random.Random) -> bytes:
    """A truth value is its opposite, or null is 0."""
    found = [*re.finditer(rb"\b(?:true|false|null)\b", content)] or [*re.finditer(rb"\b1\b", content)]
    match = dice.choice(found) if found else None
    if match is None:
        return flip(content, dice)
    new = {b"true": b"false", b"false": b"true", b"null": b"0", b"1": b"true"}[match[0]]
    return content[: match.start()] + new + content[match.end() :]


MUTATIONS: Final[Sequence[Mutate]] = (flip, other_digit, cut, lost_line, doubled, other_word, truth, flip, other_digit)


def _stretch(content: bytes, dice: random.Random) -> tuple[int, int]:
    place = dice.randrange(len(content))
    start = content.rfind(b"\n", 0, place) + 1
    end = content.find(b"\n", place) + 1 or len(content)
    return (start, end) if end - start < len(content) else (place, min(len(content), place + dice.randrange(1, 200)))
