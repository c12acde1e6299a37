"""Whole commands over the committed recordings: self-test, sweep, and a batch round that finds most of it proven."""

from collections.abc import Iterator
from pathlib import Path

from tests.bench.cost import Cost, evals
from tests.bench.line import Line
from tests.bench.sampled import with_floor
from tests.bench.scene import a_scene, again, forget, remembered

GRID = ("--single", "0.5:0.95:0.05", "--corroborated", "0.35:0.8:0.09")
"""Fifty points: a corroborated threshold above the single one is none, and the present setting and none count."""


def selftest(folder: Path) -> Iterator[Line]:
    """As a user calls it after `make eval`."""
    scene = a_scene(folder / "selftest")
    evals(scene, "run", "prompts")
    cached = remembered(scene)
    cost = evals(scene, "selftest", "prompts")
    line = Line("`evals selftest prompts`", "≤ 30 s", cost.seconds, cost.wall_s <= 30)
    yield with_floor(line, again(scene, cached), "selftest", "prompts")


def sweep(folder: Path) -> Iterator[Line]:
    """Nothing cached, then everything."""
    scene = a_scene(folder / "sweep")
    first, second = (evals(scene, "sweep", "thresholds", *GRID) for _ in range(2))
    told = next(line for line in first.out.splitlines() if " points x " in line)
    line = Line(f"sweep, nothing cached ({told.rstrip('.')})", "≤ 15 s", first.seconds, first.wall_s <= 15)
    yield with_floor(line, forget(scene), "sweep", "thresholds", *GRID)
    yield Line("the same sweep again", "", second.seconds, None)


def batch(folder: Path) -> Iterator[Line]:
    """`record --export` over a suite all of whose trials replay: run before in this checkout, and never run here."""
    scene = a_scene(folder / "batch")
    fresh = _round(scene, "first")
    known = _round(scene, "second")
    line = Line(
        "a batch round of 376 trials, all of them proven before",
        "≤ 10 s (of 282)",
        f"{known.seconds}",
        known.wall_s <= 10,
    )
    yield with_floor(line, scene, "record", "prompts", "--export", "third")
    forget(scene)
    yield Line("the same where nothing is cached", "", f"{fresh.seconds}, {fresh.peak_mb:.0f} MB", None)


def _round(scene: Path, folder: str) -> Cost:
    cost = evals(scene, "record", "prompts", "--export", folder, codes=(0,))
    if "376 of 376 trials replay exactly" not in cost.out:
        raise RuntimeError(cost.out[-500:])
    return cost
