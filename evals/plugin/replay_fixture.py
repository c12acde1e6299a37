"""The `replayed` fixture for any graph: a trial from its cassette, in a test of the project's own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, TypeVar

from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run_request import Options
from evals.models.trace import Trace
from evals.pipeline.load_suite import selected, to_be_run
from evals.pipeline.run_suite import replay
from evals.run_context import RunContext
from evals.suites.suite_files import USUAL, read_suite

Result = TypeVar("Result")


@dataclass(frozen=True)
class Replayed:
    """One recorded trial."""

    chosen: RunContext
    sample: int

    @cached_property
    def trace(self) -> Trace:
        """What became of it: the whole trial, replayed (or reused).

        Raises:
            CannotJudgeError: it is not wholly recorded, or it failed.
        """
        trace = _aside(lambda: replay(self.chosen)).traces[self.sample]
        if trace.provenance.label == "failed":
            raise CannotJudgeError(trace.error or "the trial failed")
        if trace.provenance.label != "exact":
            raise CannotJudgeError(f"{trace.provenance}: nobody recorded what was asked; {self.remedy}")
        return trace

    @property
    def remedy(self) -> str:
        """The command that records the trial."""
        return f"record it with `{self.chosen.record_command}`"


@dataclass(frozen=True)
class ReplayFixture:
    """The fixture. `root` is the project."""

    root: Path
    result: ClassVar[type[Replayed]] = Replayed

    def __call__(self, case: str, variant: str | None = None, suite: str = USUAL, sample: int = 0) -> Replayed:
        """A case of the suite under a variant (its candidate, if none is named).

        Raises:
            ConfigurationError: no such case, variant, suite or sample.
            CannotJudgeError: the case is held out.
        """
        named = variant or read_suite(suite, self.root).candidate
        chosen = to_be_run(selected(suite, self.root, Options(cases=(case,), variants=(named,))))
        if not 0 <= sample < chosen.suite.samples:
            raise ConfigurationError(f"sample {sample}: {suite} has {chosen.suite.samples}, counted from 0")
        return self.result(chosen, sample)


def _aside(work: Callable[[], Result]) -> Result:
    """What `work` gives; in a thread of its own where a loop is running here already, as in an asynchronous test."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
