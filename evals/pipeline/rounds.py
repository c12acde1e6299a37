"""Record without an endpoint: requests go out as files, answers come in as files, by hand or by a command."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.recorder import Recorder
from evals.errors import ConfigurationError
from evals.pipeline.select import Selected
from evals.recording.author import author
from evals.recording.live import Session
from evals.recording.rounds.advance import Frontier, Say, Standing
from evals.recording.rounds.answers import Answers
from evals.recording.rounds.drive import Answerer, drive
from evals.recording.rounds.export import Round, rounds_in
from evals.recording.rounds.wire import BatchWire
from evals.recording.wire import Endpoint
from evals.runner.pool import TrialId


@dataclass(frozen=True)
class Batch:
    """How the rounds are wanted: files out and in by hand, or a command that answers."""

    export: Path | None = None
    answers: tuple[Path, ...] = ()
    rounds: Path | None = None
    answer_with: str | None = None
    shards: int = 1
    keep_invalid: bool = False
    recorded_by: str | None = None
    model: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything of this was asked for at all."""
        return bool(self.export or self.answers or self.rounds or self.answer_with)

    def checked(self) -> "Batch":
        """Raises ConfigurationError if the options do not go together."""
        if not self.wanted:
            if self.shards != 1 or self.keep_invalid or self.model:
                raise ConfigurationError(
                    "--shards, --keep-invalid and --model belong to batch rounds: add --export, --import or --rounds"
                )
        elif bool(self.rounds) != bool(self.answer_with):
            raise ConfigurationError(
                "--rounds DIR and --answer-with CMD go together: where rounds lie, who answers them"
            )
        elif self.shards != 1 and not (self.export or self.rounds):
            raise ConfigurationError("--shards splits a round that is written: add --export DIR, or leave it out")
        elif self.rounds and (self.export or self.answers):
            raise ConfigurationError("--rounds does what --export and --import do by hand: give one or the other")
        return self

    def read(self, paths: Sequence[Path]) -> Answers:
        """The answers in some files."""
        return Answers.read(paths, model=self.model, keep_invalid=self.keep_invalid)


async def round_by_round(
    chosen: Selected,
    answers: Answers,
    batch: Batch,
    search: Endpoint,
    timeout_s: float,
    *,
    on_tape: Collection[TrialId],
    say: Say,
    announce: Callable[[Round, Standing], None],
) -> tuple[Standing, AllowedSecrets]:
    """Take answers in, and go on as long as a command gives more; where that leaves the trials, and what may go out.

    Args:
        chosen: cases and variants.
        answers: what came back so far.
        batch: how the rounds are wanted.
        search: who answers web searches.
        timeout_s: seconds one search may take.
        on_tape: the trials that replay from the cassettes as they are; they are not run again.
        say: hears of each trial that is finished now, and of each answer of no use.
        announce: hears of each round before a command answers it.

    Raises:
        ConfigurationError: the answering command cannot be started.
        RecordingError: it failed.
    """
    wire = BatchWire()
    recorder = Recorder(
        now=lambda: datetime.now(UTC),
        stopwatch=lambda: 0.0,  # nobody has measured what these answers took
        recorded_by=author(batch.recorded_by, chosen.workspace),
        model=batch.model,
    )
    session = Session(chosen.workspace, recorder, wire, search, timeout_s, samples=chosen.suite.samples)
    frontier = Frontier(
        workspace=chosen.workspace,
        cases=chosen.cases,
        variants=[info.variant for info in chosen.variants],
        samples=chosen.suite.samples,
        session=session,
        wire=wire,
        say=say,
        on_tape=on_tape,
    )
    try:
        if batch.rounds and batch.answer_with:
            answerer = Answerer.of(batch.answer_with)
            standing = await drive(frontier, batch.rounds, answerer, batch.shards, batch.read, announce)
        else:
            standing = await frontier.advance(answers, asked=last_asked(batch.export))
    finally:
        await session.close()
    return standing, frontier.allowed


def last_asked(folder: Path | None) -> list[str]:
    """What the round before asked: who answers it may have left something out."""
    return rounds_in(folder)[-1].ids() if folder and rounds_in(folder) else []
