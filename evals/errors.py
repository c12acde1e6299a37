"""Every error this package raises on purpose, as one tree; each says what to do next.

EvalsError                  exit 2 unless said otherwise
├── ConfigurationError      a suite, variant, case or option is wrong
├── DatasetError            a file under datasets/ is wrong (file and, where known, line)
├── ReleaseError            exit 1: a release is not what the dataset says, or cannot be used as one
├── CannotJudgeError        exit 3: there is nothing a verdict could rest on
│   ├── NotFetchedError     a released package is not here, or not whole; or no index could be reached to fetch it
│   └── CassetteError       a cassette is corrupt, truncated, edited by hand, or of a newer schema
│       └── SecretFoundError   a cassette, or what was about to be written to one, holds a secret
├── RecordingError          exit 3: the endpoint did not give a usable answer, or the replay proof failed
│   ├── NoAnswerError          nobody there, a timeout or a cut connection: asked again before it is given up
│   ├── RecordingStoppedError  nothing more can be asked: a wrong key, no such model, a limit that is reached
│   └── UnansweredError     a trial asked something that is not recorded, and that nobody was there to answer
├── ServiceError            exit 3: LangSmith, or a receiver of traces, is not to be reached, or does not take it
└── MissError               also a LookupError: a request nobody recorded
"""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Final

EXIT_OK: Final = 0
EXIT_WORSE: Final = 1
EXIT_USAGE: Final = 2
EXIT_CANNOT_JUDGE: Final = 3
EXIT_INTERRUPTED: Final = 130


class EvalsError(Exception):
    """The root of the tree. `str(error)` is one line that says what to do."""

    exit_code: ClassVar[int] = EXIT_USAGE


class ConfigurationError(EvalsError):
    """A suite, variant, case or option is wrong."""


class DatasetError(EvalsError):
    """A file of the dataset is wrong; the message starts with `path:line:` where the line is known."""


class ReleaseError(EvalsError):
    """A released package is another one than the dataset names, is not to be had, or cannot be used."""

    exit_code: ClassVar[int] = EXIT_WORSE


class CannotJudgeError(EvalsError):
    """There is nothing a verdict could rest on."""

    exit_code: ClassVar[int] = EXIT_CANNOT_JUDGE


class NotFetchedError(CannotJudgeError):
    """A released package that a case is about is not here, or not whole, or could not be fetched."""


class CassetteError(CannotJudgeError):
    """A cassette cannot be trusted; the message starts with `path:line:` and names the cause."""

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {message}")


class SecretFoundError(CassetteError):
    """A secret stands in a cassette or was about to be written to one. The secret itself is never repeated."""


class RecordingError(EvalsError):
    """The endpoint did not give a usable answer, or the replay proof failed."""

    exit_code: ClassVar[int] = EXIT_CANNOT_JUDGE


class NoAnswerError(RecordingError):
    """Nothing came back; `nobody_there` when not even a connection could be made."""

    def __init__(self, message: str, *, nobody_there: bool = False) -> None:
        self.nobody_there = nobody_there
        super().__init__(message)


class RecordingStoppedError(RecordingError):
    """Nothing more can be asked: every further request would fail alike, or is not wanted."""


class UnansweredError(RecordingError):
    """A trial asked something that is not recorded, and that nobody was there to answer."""


class ServiceError(EvalsError):
    """LangSmith, or a receiver of traces, is not to be reached, does not let us in, or does not take what it is given;
    `status` is what it answered, 0 where it did not."""

    exit_code: ClassVar[int] = EXIT_CANNOT_JUDGE

    def __init__(self, message: str, *, status: int = 0) -> None:
        self.status = status
        super().__init__(message)


class MissError(EvalsError, LookupError):
    """A request nobody recorded. A LookupError, since LangGraph's default retry policy does not retry those."""

    exit_code: ClassVar[int] = EXIT_CANNOT_JUDGE


def nearest_name(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'X'?` for a name that is none of those known, or nothing where none is alike."""
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    found = get_close_matches(name, [*known], n=1, cutoff=0.6)
    return f"; did you mean {found[0]!r}?" if found else ""
