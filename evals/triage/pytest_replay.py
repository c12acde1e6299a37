"""The `replayed` fixture: a trial or the graph on a cassette."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from evals.errors import MissError
from evals.plugin.replay_fixture import Replayed, ReplayFixture
from evals.run_context import RunContext

if TYPE_CHECKING:
    from evals.triage.recorded_graph import OnTape


class RecordedTrial(Replayed):
    """One recorded trial, and the graph on its cassette."""

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
            raise MissError(f"{error}: not on the tape; if a trial asks this, {self.remedy}") from error


class TriageReplay(ReplayFixture):
    """The fixture. `root` is the checkout."""

    result = RecordedTrial


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
