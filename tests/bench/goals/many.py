"""200 trials of ten calls, start to report, beside the bare graph and a peer's runner over a constant transport."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from evals.shortcut_switch import SWITCH
from tests.bench.cost import Cost, evals, run
from tests.bench.generated import a_checkout
from tests.bench.line import Line
from tests.bench.sampled import with_floor
from tests.bench.scene import forget

CASES = 67
"""Under three variants: 201 trials."""


def lines(folder: Path) -> Iterator[Line]:
    """All in one run: each ratio is of neighbours."""
    checkout = a_checkout(folder / "many", CASES)
    bare = other(checkout, "bare")
    ours = evals(checkout, "run", "many.yaml")
    wall, cpu = ours.wall_s / bare.wall_s, ours.cpu_s / bare.cpu_s
    peer = _peer(checkout, ours)
    line = Line(
        f"{CASES * 3} trials of ten calls, start to report, of the bare graph over a constant transport",
        "wall ≤ 0.45, processor ≤ 0.9",
        f"wall {wall:.2f}, processor {cpu:.2f} ({ours.seconds}; the bare graph, without a report: {bare.seconds})",
        wall <= 0.45 and cpu <= 0.9,
    )
    yield with_floor(line, forget(checkout), "run", "many.yaml")
    yield peer
    forget(checkout)
    plain = evals(checkout, "run", "many.yaml", **{SWITCH: "1"})
    yield Line("the same on the plain path", "", f"{plain.seconds}", None)


def _peer(checkout: Path, ours: Cost) -> Line:
    what = "the same graph under a peer's runner (pydantic-evals), of which ours takes"
    if find_spec("pydantic_evals") is None:
        return Line(what, "", "NOT INSTALLED (`make setup WITH=bench`): nothing is compared", None)
    peer = other(checkout, "peer")
    wall, cpu = ours.wall_s / peer.wall_s, ours.cpu_s / peer.cpu_s
    return Line(what, "", f"wall {wall:.2f}, processor {cpu:.2f} (the peer: {peer.seconds})", None)


def other(checkout: Path, how: str) -> Cost:
    """Its process has to say that all of its trials came to a report."""
    cost = run(["-m", "tests.bench.bare", how, str(checkout)], checkout)
    if json.loads(cost.out.splitlines()[-1]) != {"reports": CASES * 3}:
        raise RuntimeError(f"{how}: {cost.out[-500:]}")
    return cost
