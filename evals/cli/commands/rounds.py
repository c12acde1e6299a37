"""`evals record --export/--import/--rounds`: record without an endpoint, by files that somebody else answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.recorder import Recorder
from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.endpoint import search_endpoint
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, ConfigurationError
from evals.pipeline.options import Options
from evals.pipeline.select import Selected, selected
from evals.recording.author import author
from evals.recording.live import Session
from evals.recording.rounds.advance import Frontier, Standing
from evals.recording.rounds.answers import Answers
from evals.recording.rounds.drive import ATTEMPTS, Answerer, drive
from evals.recording.rounds.export import Round, by_file, rounds_in, write_round
from evals.recording.rounds.wire import BatchWire
from evals.recording.wire import Endpoint
from triage.secrecy.held import hold


@dataclass(frozen=True)
class Batch:
    """How the command line wants the rounds: files out and in by hand, or a command that answers."""

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


def record_rounds(name: str, root: Path, options: Options, batch: Batch, *, tavily_key: str, timeout_s: float) -> int:
    """Take answers in, and say or write what is asked next; 0 when nothing is, 3 as long as something waits.

    Raises:
        ConfigurationError: an answer file cannot be read, or the answering command cannot be started.
        RecordingError: the answering command failed.
    """
    hold(tavily_key)
    answers = batch.read(batch.answers)  # before anything is run: a misspelled file is no empty one
    chosen = selected(name, root, options)
    with search_endpoint(chosen.workspace.datasets, tavily_key) as search:
        return asyncio.run(_record(chosen, answers, batch, search, timeout_s))


async def _record(chosen: Selected, answers: Answers, batch: Batch, search: Endpoint, timeout_s: float) -> int:
    wire = BatchWire()
    recorder = Recorder(
        now=lambda: datetime.now(UTC),
        stopwatch=lambda: 0.0,  # nobody has measured what these answers took
        recorded_by=author(batch.recorded_by, chosen.workspace),
        model=batch.model,
    )
    session = Session(chosen.workspace, recorder, wire, search, timeout_s, samples=chosen.suite.samples)
    variants = [info.variant for info in chosen.variants]
    frontier = Frontier(chosen.workspace, chosen.cases, variants, chosen.suite.samples, session, wire, _note)
    try:
        if batch.rounds and batch.answer_with:
            answerer = Answerer.of(batch.answer_with)
            standing = await drive(frontier, batch.rounds, answerer, batch.shards, batch.read, _announce)
        else:
            standing = await frontier.advance(answers, asked=_last_asked(batch.export))
    finally:
        await session.close()
    return _conclude(chosen, batch, standing, frontier.allowed)


def _last_asked(folder: Path | None) -> list[str]:
    """What the round before asked: who answers it may have left something out."""
    return rounds_in(folder)[-1].ids() if folder and rounds_in(folder) else []


def _conclude(chosen: Selected, batch: Batch, standing: Standing, allowed: AllowedSecrets) -> int:
    taken = f"{standing.taken} new answers" + (
        f", {standing.known_before} on record before" if standing.known_before else ""
    )
    _print(f"{chosen.suite.name}: {standing.proven} of {standing.trials} trials replay exactly ({taken}).")
    if standing.failed:
        _print(f"{standing.failed} trials failed, see above; what was answered is kept, run it again.")
    if standing.pending:
        _print_next(batch, standing, allowed)
    return EXIT_CANNOT_JUDGE if standing.failed or standing.waiting else EXIT_OK


def _print_next(batch: Batch, standing: Standing, allowed: AllowedSecrets) -> None:
    wait = f"{standing.waiting} trials wait for {len(standing.pending)} answers"
    if batch.rounds:
        _print(f"{wait}: each was asked {ATTEMPTS} times, and no answer could be used.")
    elif batch.export:
        found = write_round(batch.export, standing.pending, batch.shards, allowed)
        files = ", ".join(f"{name} ({count})" for name, count in sorted(by_file(found).items()))
        _print(
            f"{wait}; round {found.number} asks for them in {found.folder}: {files}.\n"
            "Next: the same command again, with --import and the files that answer them."
        )
    else:
        _print(f"{wait}; --export DIR writes the requests.")


def _announce(found: Round, standing: Standing) -> None:
    files = by_file(found)
    shards = f" in {len(files)} shards" if len(files) > 1 else ""
    _note(
        f"round {found.number}: {files.total()} requests{shards}; "
        f"{standing.proven} of {standing.trials} trials replay exactly"
    )


def _print(text: str) -> None:
    VisibleConsole(soft_wrap=True).print(text, highlight=False, markup=False)


def _note(text: str) -> None:
    VisibleConsole(stderr=True, soft_wrap=True).print(text, highlight=False, markup=False)
