"""`replayed(case)` in ordinary tests: what became of a trial, or the graph to be called by the test itself."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from evals.errors import CannotJudgeError, ConfigurationError, MissError
from evals.models.trace import Trace
from evals.pipeline.options import Options
from evals.pipeline.replay import replay
from evals.pipeline.select import Selected, selected, to_be_run
from evals.pipeline.trial import on_tape
from evals.suites.load import load_suite

if TYPE_CHECKING:
    from evals.subject.on_tape import OnTape

SUITE: Final = "prompts"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Replay:
    """The fixture. `root` is the checkout."""

    root: Path

    def __call__(self, case: str, variant: str | None = None, suite: str = SUITE, sample: int = 0) -> "Replayed":
        """A case of the suite under a variant (its candidate, if none is named).

        Raises:
            ConfigurationError: no such case, variant, suite or sample.
            CannotJudgeError: the case is held out.
        """
        named = variant or load_suite(suite).candidate
        chosen = to_be_run(selected(suite, self.root, Options(cases=(case,), variants=(named,))))
        if not 0 <= sample < chosen.suite.samples:
            raise ConfigurationError(f"sample {sample}: {suite} has {chosen.suite.samples}, counted from 0")
        return Replayed(chosen, sample)


@dataclass(frozen=True)
class Replayed:
    """One recorded trial."""

    chosen: Selected
    sample: int

    @cached_property
    def trace(self) -> Trace:
        """What became of it: the whole trial, replayed (or reused).

        Raises:
            CannotJudgeError: it is not wholly on the tape, or it failed.
        """
        trace = _aside(lambda: replay(self.chosen)).traces[self.sample]
        if trace.provenance.label == "failed":
            raise CannotJudgeError(trace.error or "the trial failed")
        if trace.provenance.label != "exact":
            raise CannotJudgeError(f"{trace.provenance}: nobody recorded what was asked; {self._remedy}")
        return trace

    @contextmanager
    def on_tape(self) -> "Iterator[OnTape]":
        """The graph of the variant, to be called by the test; inside the block every request is answered by the tape.

        Raises:
            CassetteError: the recording cannot be trusted.
            MissError: at the end of the block, if anything was asked that nobody recorded.
        """
        try:
            with on_tape(self.chosen, self.sample) as found:
                yield found
        except MissError as error:
            raise MissError(f"{error}: not on the tape; if a trial asks this, {self._remedy}") from error

    @property
    def _remedy(self) -> str:
        return f"record it with `{self.chosen.record_command}`"


def _aside(work: Callable[[], Result]) -> Result:
    """What `work` gives; in a thread of its own where a loop is running here already, as in an asynchronous test."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
