"""Answers with which a graph fails, or that a judge's question cannot be read from: the next recording asks again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import drop
from evals.cassettes.recorder import StopSignal
from evals.cassettes.transcript import answer_text
from evals.errors import RecordingError, RecordingStoppedError
from evals.secret_filter import scrub
from evals.target.http_bodies import BODY

IN_A_ROW: Final = 5
_SHOWN: Final = 60  # characters of an answer


class UnusableAnswerError(RecordingError):
    """What was answered is of no use; `answer` is the beginning of the last answer, empty if there is none."""

    def __init__(self, message: str, served: Sequence[Interaction]) -> None:
        self.answer = _beginning(served[-1]) if served else ""
        super().__init__(message)


@dataclass
class UnusableAnswers:
    """Answers of no use by the file in which they wait. They stay there until its case is over, so that other trials
    of this recording do not pay for those that they share."""

    _names: dict[Path, set[tuple[str, int]]] = field(default_factory=dict)

    def add(self, staging: Path, served: Sequence[Interaction]) -> None:
        """These are of no use, all of them: nobody knows which one it was."""
        self._names.setdefault(staging, set()).update((found.key, found.sample) for found in served)

    def remove(self, staging: Path) -> None:
        """Take those out of the file. Raises CassetteError if it cannot be written."""
        if (names := self._names.pop(staging, None)) and staging.exists():
            drop(staging, names)


@dataclass
class FailuresInARow:
    """Stops a recording after five trials or questions in a row with whose answers nothing can be done."""

    stop: StopSignal
    _count: int = 0

    def count(self, outcome: object) -> None:
        """Hear what became of a trial or a question: anything but an error is a success."""
        if isinstance(outcome, UnusableAnswerError):
            self._count += 1
        elif not isinstance(outcome, Exception):
            self._count = 0
        if isinstance(outcome, UnusableAnswerError) and self._count == IN_A_ROW:
            quoted = f"; the last one begins {outcome.answer!r}" if outcome.answer else ""
            advice = "mend the endpoint or the graph, then run it again: failed answers are asked again"
            self.stop.set(RecordingStoppedError(f"{IN_A_ROW} in a row failed; {outcome}{quoted}; {advice}"))


def _beginning(found: Interaction) -> str:
    text = (found.response.get(BODY) or {}).get("text")
    return " ".join(scrub(str(text or answer_text(found))).split())[:_SHOWN]
