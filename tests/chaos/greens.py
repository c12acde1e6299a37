"""Every way to an undeserved green, one after the other: none may end with exit code 0, or say what it lost."""

import random
import shutil
from pathlib import Path

from tests.builders.checkout import evals, started
from tests.chaos.ground import RUN, copied, green
from tests.chaos.row import Row
from tests.chaos.verdict_ways import verdict_ways
from tests.chaos.ways import KEPT, Way, ways


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """A share of the ways, drawn by the seed; which lead to a green is printed."""
    checkout = green(folder)
    shutil.copy(checkout / RUN, checkout / KEPT)
    everything = [*ways(), *verdict_ways()]
    tried = random.Random(seed).sample(everything, round(len(everything) * share) or 1)  # noqa: S311 - ways, not keys
    undeserved = [way for way in tried if is_green(way, copied(checkout, folder / "way"))]
    for way in undeserved:
        print(f"green all the same: {way.name}")
    return [Row("ways to an undeserved exit code 0", len(tried), len(undeserved))]


def is_green(way: Way, checkout: Path) -> bool:
    """Whether the way leads to a green that is not deserved."""
    way.damage(checkout)
    code, out = _asked(way, checkout)
    return code == 0 and not (way.unless_said and way.unless_said in out)


def _asked(way: Way, checkout: Path) -> tuple[int, str]:
    """Exit code, and what was printed."""
    if way.in_process:
        said = evals(checkout, *way.asked)
        return said.code, said.out
    process = started(checkout, *way.asked, "--jobs", "1", PYTHONPATH=str(checkout))
    out, _ = process.communicate()
    return process.returncode, out
