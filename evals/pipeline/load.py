"""Load: a suite with everything a run of it rests on beside the tape, read and checked before anything is run."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from evals.models.run import Baseline, Scope
from evals.pipeline.blessed import baseline_of
from evals.pipeline.options import Options
from evals.pipeline.select import Selected, scored, selected

UNCHANGED: Final = Options()
HERE: Final = Path()


@dataclass(frozen=True)
class LoadedSuite(Selected):
    """What is going to be run, and what it is going to be held against."""

    scope: Scope
    """How much of the dataset it is about, and which of its cases are left out because they are held out."""
    baseline: Baseline | None
    """What it is held against beside its own reference; None where nobody blessed one, or it does not apply."""
    wants_baseline: bool
    """Whether the lack of one keeps a run from being judged."""


def load_suite(
    suite: str, root: Path = HERE, options: Options = UNCHANGED, *, today: date | None = None
) -> LoadedSuite:
    """Read a suite of the checkout at `root`, narrowed or changed as `options` say.

    Args:
        suite: the name of a shipped suite, or a suite file.
        root: the checkout.
        options: what is run of it; nothing given is the suite as it stands. `open_holdout` counts at once.
        today: the day an opening of the holdout is counted under; that of the clock if not given.

    Raises:
        ConfigurationError, DatasetError: something is wrong with the suite, the options or the dataset.
        CannotJudgeError: no case is selected, all are held out, or the baseline cannot be read.
    """
    return loaded(selected(suite, root, options), today)


def loaded(chosen: Selected, today: date | None = None, *, own_baseline: bool = True) -> LoadedSuite:
    """A selection with what it is held against; `own_baseline` says whether that is the baseline of its suite.

    Raises:
        DatasetError: the count of openings cannot be read.
        CannotJudgeError: every selected case is held out, or the baseline cannot be read.
    """
    left, scope = scored(chosen, today or datetime.now(UTC).date())
    wanted = own_baseline and not chosen.unblessed
    # a broken baseline is said before the work, not after
    return LoadedSuite(**vars(left), scope=scope, baseline=baseline_of(left) if wanted else None, wants_baseline=wanted)
