"""Replay with a progress bar."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from evals.cli.terminal.progress import Bar, bar
from evals.models.trace import Trace
from evals.pipeline.options import Options
from evals.pipeline.replay import replay
from evals.pipeline.select import Selected, selected
from evals.runner.pool import Trials
from evals.runner.scheduler import LOCAL
from evals.runner.share import WHOLE, Share
from evals.runner.task import TRIAL_TIMEOUT


class Watched:
    """A replay as somebody watches it: what `replay` tells goes to a bar, and is counted."""

    def __init__(self, progress: Bar) -> None:
        self._bar = progress
        self._started = time.monotonic()
        self._done = self._reused = 0

    def __call__(self, trace: Trace, *, reused: bool, total: int) -> None:
        """One more trial of `total`."""
        self._done += 1
        self._reused += reused
        self._bar.of(total)
        self._bar.step(f"{trace.case_id} {trace.variant}: {trace.provenance}{' (reused)' if reused else ''}")

    @property
    def took(self) -> str:
        """What was done until now, and how long it took."""
        return f"{self._done} trials in {time.monotonic() - self._started:.1f} s, {self._reused} reused unchanged"


@contextmanager
def watched(label: str) -> Iterator[Watched]:
    """Progress to be handed to `replay` and `compare`, shown as long as the block lasts."""
    with bar(label, None) as progress:
        yield Watched(progress)


def replayed(
    chosen: Selected,
    *,
    jobs: int,
    fresh: bool = False,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    scheduler: str = LOCAL,
    meanwhile: Callable[[], object] | None = None,
) -> Trials:
    """All trials of the share, as `replay` gives them."""
    with watched(f"replaying {chosen.suite.name}") as progress:
        return replay(
            chosen,
            jobs=jobs,
            fresh=fresh,
            trial_timeout=trial_timeout,
            share=share,
            scheduler=scheduler,
            progress=progress,
            meanwhile=meanwhile,
        )


def replayed_suites(suites: Sequence[str], root: Path, *, jobs: int) -> list[tuple[Selected, tuple[Trace, ...]]]:
    """Every suite with its traces; unchanged trials are reused.

    Raises:
        CannotJudgeError: a suite selects no case.
    """
    chosen = [selected(name, root, Options()) for name in suites]
    return [(each, replayed(each, jobs=jobs).traces) for each in chosen]
