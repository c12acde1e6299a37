"""`--scheduler dask://` on 2, 4 and 8 local workers: what is left of the processors there are."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from tests.bench.cost import evals
from tests.bench.generated import a_checkout
from tests.bench.goals.memory import TRIALS
from tests.bench.line import Line
from tests.builders.cluster import a_cluster

WORKERS = (1, 2, 4, 8)
EFFICIENCY = 0.8


def lines(folder: Path) -> Iterator[Line]:
    """The share of the ideal that n workers reach: n times one worker's rate, and no more than the cores can give."""
    if find_spec("distributed") is None:
        yield Line("dask:// on 2, 4, 8 workers", "≥ 80 % of ideal", "NOT INSTALLED: `make setup WITH=dask`", None)
        return
    checkout = a_checkout(folder / "scale", -(-TRIALS // 3))
    cores = len(os.sched_getaffinity(0))
    alone = 0.0
    for workers in WORKERS:
        rate = _rate(checkout, folder / f"cluster-{workers}", workers)
        alone = alone or rate
        of_ideal = rate / (alone * min(workers, cores))
        yield Line(
            f"dask:// on {workers} worker{'s' if workers > 1 else ''}, {TRIALS:,} generated trials, {cores} cores",
            "≥ 80 % of ideal up to the cores there are" if workers > 1 else "",
            f"{rate:.1f} trials/s, {of_ideal:.1%} of ideal",
            of_ideal >= EFFICIENCY if workers > 1 else None,
        )


def _rate(checkout: Path, folder: Path, workers: int) -> float:
    """Trials per second of wall time, report included; the first, small run lets every worker load its libraries."""
    folder.mkdir()
    with ExitStack() as stack:
        address = stack.enter_context(a_cluster(checkout, folder, workers=workers))
        words = ("run", "many.yaml", "--fresh", "--scheduler", address)
        warm = [word for n in range(4 * workers) for word in ("--case", f"made-{n:05}")]
        evals(checkout, *words, *warm, "--out", ".cache/warm")
        cost = evals(checkout, *words, "--out", ".cache/bench")
        return TRIALS / cost.wall_s
