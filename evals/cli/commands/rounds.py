"""`evals record --export/--import/--rounds`: record without an endpoint, by files that somebody else answers."""

import asyncio
from pathlib import Path

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.endpoint import search_endpoint
from evals.cli.terminal.replaying import replayed
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.pipeline.options import Options
from evals.pipeline.replay import begun, proven
from evals.pipeline.rounds import Batch, round_by_round
from evals.pipeline.select import Selected, selected
from evals.recording.rounds.advance import Standing
from evals.recording.rounds.drive import ATTEMPTS
from evals.recording.rounds.export import Round, by_file, write_round
from triage.secrecy.held import hold


def record_rounds(
    name: str, root: Path, options: Options, batch: Batch, *, tavily_key: str, timeout_s: float, jobs: int
) -> int:
    """Take answers in, and say or write what is asked next; 0 when nothing is, 3 as long as something waits.

    Raises:
        ConfigurationError: an answer file cannot be read, or the answering command cannot be started.
        RecordingError: the answering command failed.
    """
    hold(tavily_key)
    answers = batch.read(batch.answers)  # before anything is run: a misspelled file is no empty one
    chosen = selected(name, root, options)
    on_tape = proven(replayed(begun(chosen), jobs=jobs).traces)
    with search_endpoint(chosen.workspace.datasets, tavily_key) as search:
        standing, allowed = asyncio.run(
            round_by_round(chosen, answers, batch, search, timeout_s, on_tape=on_tape, say=_note, announce=_announce)
        )
    return _conclude(chosen, batch, standing, allowed)


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
