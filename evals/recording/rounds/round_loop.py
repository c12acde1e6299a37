"""The loop over batch rounds with a command that answers them."""

import asyncio
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from evals.errors import ConfigurationError, RecordingError
from evals.recording.rounds.answer_files import Answers, fit_line
from evals.recording.rounds.batch_requests import Round, rounds_in, write_round
from evals.recording.rounds.round_step import RoundState
from evals.secrets.secret_filter import NOTHING, AllowedSecrets

ATTEMPTS: Final = 3
"""How often one request is asked whose answers cannot be used."""


@dataclass(frozen=True)
class Answerer:
    """A command that reads requests from stdin and writes answers to stdout, both JSONL; words as a shell would split
    them, though no shell is involved."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, command: str) -> "Answerer":
        """Raises ConfigurationError if there is nothing to run."""
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise ConfigurationError(f"--answer-with {command!r}: {error}") from None
        if not words:
            raise ConfigurationError("--answer-with: name the command that answers")
        return cls(words)

    async def answer(self, found: Round, allowed: AllowedSecrets = NOTHING) -> list[int]:
        """Answer every shard of a round, all at once, each into a file beside it; the exit codes.

        What a command has written stays, however it ends, but for secrets that are not `allowed`.
        """
        return await asyncio.gather(*(self._answer_shard(shard, allowed) for shard in found.shards))

    async def _answer_shard(self, shard: Path, allowed: AllowedSecrets) -> int:
        answers = shard.with_name(shard.name.replace("shard-", "answers-"))
        with shard.open("rb") as requests, answers.open("wb") as written:
            try:
                process = await asyncio.create_subprocess_exec(*self.words, stdin=requests, stdout=subprocess.PIPE)
            except OSError as error:
                answers.unlink()  # nobody has answered this round
                raise ConfigurationError(f"--answer-with {self.words[0]}: {error.strerror}") from None
            try:
                await _copy(process.stdout, written, allowed)
                return await process.wait()
            finally:
                if process.returncode is None:  # interrupted: nobody is left to read it
                    process.terminate()


async def _copy(said: asyncio.StreamReader | None, written: BinaryIO, allowed: AllowedSecrets) -> None:
    """Line by line as they come, so that a kill loses what is not whole at most."""
    rest = b""
    while said and (chunk := await said.read(1 << 16)):
        *lines, rest = (rest + chunk).split(b"\n")
        written.writelines(fit_line(line, allowed) + b"\n" for line in lines)
        written.flush()
    written.write(fit_line(rest, allowed) if rest else b"")


class Advancing(Protocol):
    """What goes from round to round: trials that are recorded, requests asked again, or questions to a judge."""

    @property
    def allowed(self) -> AllowedSecrets:
        """What may go out and come back, by somebody's word."""

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> RoundState:
        """Take in `answers`, which were to answer `asked`; what waits now."""


async def drive(
    frontier: Advancing,
    folder: Path,
    answerer: Answerer,
    shards: int,
    read: Callable[[Sequence[Path]], Answers],
    told: Callable[[Round, RoundState], None],
) -> RoundState:
    """Go round until nothing is left to ask; what lies in `folder` from a run before is taken in first.

    The standing at the end, with the answers of all rounds.

    `told` hears of each round before it is answered. A request whose answers cannot be used is asked again, ATTEMPTS
    times in all.

    Raises:
        RecordingError: the command failed, or answered nothing it was asked; what it did answer is kept.
    """
    standing = await frontier.advance(read([path for found in rounds_in(folder) for path in found.answers]))
    taken = standing.taken
    refused: Counter[str] = Counter()
    while asked := [item for item in standing.pending if refused[item.custom_id] < ATTEMPTS]:
        found = write_round(folder, asked, shards, frontier.allowed)
        told(found, standing)
        failed = [code for code in await answerer.answer(found, frontier.allowed) if code]
        answers = read(found.answers)
        standing = await frontier.advance(answers, asked=found.ids())
        taken += standing.taken
        refused.update(answers.unusable)
        if failed:
            raise RecordingError(
                f"the command exited with {failed[0]} in round {found.number}; what it answered is kept, run it again"
            )
        if not standing.taken and not answers.unusable:
            raise RecordingError(
                f"round {found.number} brought no answer to any of its {len(asked)} requests; see that the command "
                "writes one line per request, with the request's custom_id"
            )
    return replace(standing, taken=taken)
