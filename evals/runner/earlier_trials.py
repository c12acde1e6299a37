"""Trials that are reused although their cassette has changed: the answers they were given are all as they were."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.cassettes.interaction import Cassette
from evals.content_cache import Kept, digest_of
from evals.models.trace import Trace
from evals.runner.trial_cache import Keeper

FOLDER: Final = "answers"
ANY_CASSETTE: Final = "any cassette"
"""In the place of a cassette's digest, in the name of all else that a trial depends on."""


@dataclass(frozen=True)
class EarlierTrial:
    """A trial that depends on the same but for its cassette, and the digest of the answers it was given."""

    trace: Trace
    answers: str

    def holds(self, cassette: Cassette) -> bool:
        """Whether the cassette gives every request of the trial the same answers still. Then a trial goes the same way:
        its first request follows from what is the same, and each further one from the answers before it."""
        return answers_of(self.trace, cassette) == self.answers


def earlier(cache: Path, name: str, keeper: Keeper) -> EarlierTrial | None:
    """The last trial that was kept under `name`, if its trace can still be used."""
    digest, _, answers = (Kept(cache / FOLDER).get(name) or b"").decode().partition(" ")
    trace = keeper.get(digest) if digest else None
    return None if trace is None else EarlierTrial(trace, answers)


def keep_answers(
    cache: Path, names: Sequence[str], digests: Sequence[str], traces: Sequence[Trace], at: Cassette
) -> None:
    """Keep, under what else each trial depends on, which trial it was and what it was answered. One that misses an
    answer depends on all of its cassette: the nearest request is sought there."""
    for name, digest, trace in zip(names, digests, traces, strict=False):
        if trace.provenance.label == "exact" and not trace.misses and not trace.point_misses:
            with suppress(OSError):  # of a full disk the trial itself tells, when it is kept
                Kept(cache / FOLDER).put(name, f"{digest} {answers_of(trace, at)}".encode())


def answers_of(trace: Trace, cassette: Cassette) -> str:
    """Digest of all answers, in every repeat, to the requests that a trial made."""
    asked = trace.asked
    used = [found for found in cassette.interactions if found.key in asked]
    return digest_of(
        str(cassette.tree).encode(),
        *(
            part
            for found in used
            for part in (found.model_dump_json(exclude={"request", "response"}).encode(), found.body)
        ),
    )
