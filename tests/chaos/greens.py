"""Every way to an undeserved green, one after the other: none may end with exit code 0."""

import random
import shutil
from pathlib import Path

from tests.builders.checkout import evals
from tests.chaos.ground import RUN, copied, green
from tests.chaos.row import Row
from tests.chaos.ways import KEPT, Way, ways


def rows(folder: Path, share: float, seed: int) -> list[Row]:
    """A share of the ways, drawn by the seed; which lead to a green is printed."""
    checkout = green(folder)
    shutil.copy(checkout / RUN, checkout / KEPT)
    everything = list(ways())
    tried = random.Random(seed).sample(everything, round(len(everything) * share) or 1)  # noqa: S311 - ways, not keys
    undeserved = [way for way in tried if _is_green(way, copied(checkout, folder / "way"))]
    for way in undeserved:
        print(f"green all the same: {way.name}")
    return [Row("ways to an undeserved exit code 0", len(tried), len(undeserved))]


def _is_green(way: Way, checkout: Path) -> bool:
    way.damage(checkout)
    return evals(checkout, *way.asked).code == 0
