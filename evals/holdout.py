"""The held-out cases: which they are, and how often and why they were opened."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final

import yaml
from filelock import FileLock

from evals.atomic_files import replace
from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.case import Case
from evals.safe_yaml import read_model

HEADER: Final = "# How often, and why, held-out cases were scored; `evals run SUITE --open-holdout WHY` adds one.\n"


class Opening(Closed):
    """One look at the holdout. `day` is an ISO date."""

    day: str
    suite: str
    why: str


class Openings(Closed):
    """`holdout.yaml`, oldest first."""

    openings: tuple[Opening, ...] = ()


def held_out(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Those of the cases that are in the split `holdout`."""
    return tuple(case for case in cases if case.known.split == "holdout")


def holdout_file(datasets: Path) -> Path:
    """The count of looks at the held-out cases of a dataset."""
    return datasets / "holdout.yaml"


def read_openings(path: Path) -> tuple[Opening, ...]:
    """What was opened so far; nothing where there is no file yet. Raises DatasetError (`path:line: …`)."""
    return read_model(path, Openings).openings if path.exists() else ()


def check_reason(why: str | None) -> None:
    """Raises ConfigurationError if the holdout is to be opened without a reason."""
    if why is not None and not why.strip():
        raise ConfigurationError(
            '--open-holdout needs a reason, such as "final check of release 2"; nothing was opened'
        )


def open_holdout(path: Path, suite: str, why: str, day: date, header: str = HEADER) -> int:
    """Count one more opening before anything is scored, and return how many there are now.

    The file is replaced as a whole under a lock: two runs at once count as two.

    Raises:
        ConfigurationError: no reason is given.
        DatasetError: the count so far cannot be read.
    """
    check_reason(why)
    with FileLock(path.with_name(f".{path.name}.lock")):
        openings = (*read_openings(path), Opening(day=day.isoformat(), suite=suite, why=why))
        text = yaml.safe_dump(Openings(openings=openings).model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        replace(path, header + text)
    return len(openings)
