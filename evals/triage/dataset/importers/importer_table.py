"""The table of importers of foreign datasets."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.triage.dataset.importers import benchmarks as github
from evals.triage.dataset.importers import benchmarks as locagent
from evals.triage.dataset.importers import benchmarks as swebench
from evals.triage.dataset.importers import bugsinpy
from evals.triage.dataset.importers.imported_issue import ForeignIssue, Refused, Source

Importer = Callable[[Path], Iterator[ForeignIssue | Refused]]

IMPORTERS: Final[Mapping[Source, Importer]] = {
    "swebench": swebench.read_swebench,
    "locagent": locagent.read_locagent,
    "bugsinpy": bugsinpy.read,
    "github": github.read_github,
}
