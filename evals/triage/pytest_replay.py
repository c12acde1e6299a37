"""The `replayed` fixture: a trial or the graph on a cassette."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from evals.errors import CannotJudgeError, ConfigurationError, MissError
from evals.models.run_request import Options
from evals.models.trace import Trace
from evals.pipeline.load_suite import selected, to_be_run
from evals.pipeline.run_suite import replay
from evals.run_context import RunContext
from evals.suites.suite_files import read_suite

if TYPE_CHECKING:
    from evals.triage.recorded_graph import OnTape

SUITE: Final = "prompts"
Result = TypeVar("Result")


@dataclass(frozen=True)
class ReplayFixture:
    """The fixture. `root` is the checkout."""

    root: Path

    def __call__(self, case: str, variant: str | None = None, suite: str = SUITE, sample: int = 0) -> "Replayed":
        """A case of the suite under a variant (its candidate, if none is named).

        Raises:
            ConfigurationError: no such case, variant, suite or sample.
            CannotJudgeError: the case is held out.
        """
        named = variant or read_suite(suite, self.root).candidate
        chosen = to_be_run(selected(suite, self.root, Options(cases=(case,), variants=(named,))))
        if not 0 <= sample < chosen.suite.samples:
            raise ConfigurationError(f"sample {sample}: {suite} has {chosen.suite.samples}, counted from 0")
        return Replayed(chosen, sample)


@dataclass(frozen=True)
class Replayed:
    """One recorded trial."""

    chosen: RunContext
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


@contextmanager
def on_tape(chosen: RunContext, sample: int = 0) -> "Iterator[OnTape]":
    """The graph of the one variant selected, on the tape of the one case, as long as the block lasts.

    Raises:
        CassetteError: the recording cannot be trusted.
        MissError: at the end of the block, if anything was asked that nobody recorded.
    """
    from evals.triage.graph_trial import CaseTarget  # noqa: PLC0415
    from evals.triage.recorded_graph import Repositories  # noqa: PLC0415
    from evals.triage.recorded_graph import on_tape as played  # noqa: PLC0415
    from evals.triage.trial_clients import replay_clients  # noqa: PLC0415 - loads LangGraph, as the next

    (case,), (info,), place = chosen.cases, chosen.variants, chosen.workspace
    tape = Tape(load(place.cassette(case.id)), sample=sample, samples=chosen.suite.samples)
    subject = CaseTarget.of(info.variant, replay_clients(), Repositories(place).of(case))
    with played(subject, case, tape) as found:
        yield found


def _aside(work: Callable[[], Result]) -> Result:
    """What `work` gives; in a thread of its own where a loop is running here already, as in an asynchronous test."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
