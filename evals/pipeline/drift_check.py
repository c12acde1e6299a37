"""Ask a sample of recorded requests again and compare the answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.analysis.drift_comparison import tell
from evals.analysis.drift_session import (
    Heard,
    Population,
    RecordedRequest,
    Rounds,
    Sitting,
    Wanted,
    ask,
    drawn,
    missing,
    population,
    price_of,
    wanted,
)
from evals.atomic_files import write_files
from evals.cassettes.event_loop_thread import Apart
from evals.cassettes.recorder import Recorder
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.analysis_results import Drift, DriftPrice
from evals.models.trace import Trace
from evals.pipeline.record_suite import Announce, Batch
from evals.prices import PriceTable
from evals.recording.batch_files import Answers
from evals.recording.batch_rounds import RoundState, Say
from evals.recording.endpoint import Endpoint, OpenAIWire
from evals.run_context import RunContext
from evals.secret_filter import FILE, read_allowed


@dataclass(frozen=True)
class Wish:
    """The sample: how many requests, of which seed; `precision` is the change of decisions (a fraction) that must not
    be overlooked, `alpha` the chance of a false alarm over all fields."""

    size: int = 60
    seed: int = 0
    precision: float = 0.15
    alpha: float = 0.05


@dataclass(frozen=True)
class Sampled:
    """What is going to be asked, and where its answers go; `open` are those that are not there yet."""

    chosen: RunContext
    wish: Wish
    population: Population
    sample: tuple[RecordedRequest, ...]
    sitting: Sitting
    open: tuple[Wanted, ...]

    def price(self, prices: PriceTable) -> DriftPrice:
        """What the open answers take."""
        times: dict[RecordedRequest, int] = {}
        for one in self.open:
            times[one.request] = times.get(one.request, 0) + 1
        return price_of(times, prices)


def sampled(chosen: RunContext, traces: Sequence[Trace], wish: Wish, sitting: Sitting) -> Sampled:
    """Draw the sample from what these traces of a replay were served.

    Raises:
        CannotJudgeError: nothing is recorded, or a cassette cannot be trusted.
    """
    found = population(traces, chosen.workspace)
    sample = tuple(drawn(found.requests, wish.size, wish.seed))
    return Sampled(chosen, wish, found, sample, sitting, tuple(missing(wanted(sample), sitting.taken_in(sample))))


async def ask_endpoint(what: Sampled, recorder: Recorder, llm: Endpoint, timeout_s: float, *, heard: Heard) -> int:
    """Ask for every open answer; how many did not come, for whatever reason."""
    recorder.apart = apart = Apart()
    wire = OpenAIWire(llm)
    try:
        return await ask(what.open, what.sitting, recorder, wire, heard, timeout_s=timeout_s)
    finally:
        await recorder.apart(wire.aclose())
        apart.end()


async def ask_rounds(what: Sampled, batch: Batch, answers: Answers, *, say: Say, announce: Announce) -> RoundState:
    """Take `answers` in, or have a command answer; what still waits is in the standing.

    Raises:
        ConfigurationError: the answering command cannot be started.
        RecordingError: it failed.
    """
    recorder = batch.recorder(None, slots=asyncio.Semaphore(1))
    allowed = read_allowed(what.chosen.workspace.cassettes / FILE)
    rounds = Rounds(wanted(what.sample), what.sitting, recorder, allowed, say)
    return await batch.advance(rounds, answers, announce)


def concluded(what: Sampled, prices: PriceTable) -> Drift:
    """Compare, judge, and keep the result beside the answers.

    Raises:
        CannotJudgeError: an answer is still missing.
        ConfigurationError: the folder cannot be written.
    """
    answered = what.sitting.taken_in(what.sample)
    if lacking := len(missing(wanted(what.sample), answered)):
        raise CannotJudgeError(f"{lacking} answers are missing; run it again to go on")
    found = tell(
        what.chosen.suite.name,
        what.population,
        what.sample,
        answered,
        samples=what.chosen.suite.samples,
        seed=what.wish.seed,
        precision=what.wish.precision,
        alpha=what.wish.alpha,
        prices=prices,
    )
    write_files(what.sitting.folder, {what.sitting.result.name: found.model_dump_json(indent=2) + "\n"})
    return found


def folder_of(chosen: RunContext, out: Path | None) -> Path:
    """Where the suite's sittings are: below `out`, else below the checkout's reports.

    Raises:
        ConfigurationError: `out` is among the cassettes.
    """
    if out is not None and out.resolve().is_relative_to(chosen.workspace.cassettes):
        raise ConfigurationError(f"--out {out}: cassettes/ is what drift compares with; name a folder elsewhere")
    return out or chosen.workspace.reports / "drift" / chosen.suite.name
