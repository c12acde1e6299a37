"""The shipped cassettes that a test looks at: a few of each kind in `make test`, all of them in `make test EVERY=1`.

Drawn by a seed from strata of codebase, models that answered, and whether every variant was recorded or the four
prompts alone; so each of these is there at least once. `evals cassette verify` reads them all, every time.
"""

import json
import os
import random
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from tests.builders.checkout import REPOSITORY

EVERY: Final = "EVERY"
"""The variable that `make test EVERY=1` sets."""
FOLDER: Final = REPOSITORY / "cassettes"
SEED: Final = 7
WHOLE: Final = 120
"""So many interactions and more are on tape where also guards, supervisors and samples were recorded."""


def every() -> bool:
    """Whether all are asked for."""
    return bool(os.environ.get(EVERY))


def all_cassettes() -> list[Path]:
    """Every shipped cassette of the dataset written here, by name."""
    return sorted(FOLDER.glob("*.yaml"))


def some_cassettes(seed: int = SEED) -> list[Path]:
    """One of each stratum, by name; all of them if every one is asked for."""
    if every():
        return all_cassettes()
    dice = random.Random(seed)  # noqa: S311 - a sample, no key
    return sorted(FOLDER / dice.choice(sorted(each)) for _, each in sorted(strata().items()))


def some_kinds(seed: int = SEED + 1) -> list[Path]:
    """Fewer, where the codebase is of no account: one for each set of models and size. All if all are asked for."""
    if every():
        return all_cassettes()
    kinds: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for (_, *kind), names in sorted(strata().items()):
        kinds[tuple(kind)] += names
    dice = random.Random(seed)  # noqa: S311 - a sample, no key
    return sorted(FOLDER / dice.choice(sorted(names)) for _, names in sorted(kinds.items()))


def strata() -> dict[tuple[str, tuple[str, ...], bool], list[str]]:
    """The files of each kind, as the manifest describes them."""
    found: dict[tuple[str, tuple[str, ...], bool], list[str]] = defaultdict(list)
    for line in (FOLDER / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        about: dict[str, Any] = json.loads(line)
        if (FOLDER / about["file"]).parent == FOLDER:
            models = tuple(sorted(about["models"]))
            found[about["file"].partition("-")[0], models, about["interactions"] >= WHOLE].append(about["file"])
    return found
