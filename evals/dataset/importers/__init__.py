"""A row of readers of foreign datasets behind one table; a new one is one file and one line here.

Each takes a path and yields what it found, row by row: an `Issue` that becomes a case, or a `Refused` with the reason.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.dataset.importers import bugsinpy, github, locagent, swebench
from evals.dataset.importers.found import Issue, Refused, Source

Importer = Callable[[Path], Iterator[Issue | Refused]]

IMPORTERS: Final[Mapping[Source, Importer]] = {
    "swebench": swebench.read,
    "locagent": locagent.read,
    "bugsinpy": bugsinpy.read,
    "github": github.read,
}
