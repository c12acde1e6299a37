"""What can go wrong, as a tree. The command line prints these as one line and leaves with a code of its own.

    TallyflowError
    ├── ConfigError        the pipeline file is wrong; nothing has been run
    ├── SourceError        a source cannot be read at all
    │   └── RowError       one row cannot be used; collected, and fatal only above the source's limit
    ├── UnitError          a unit is unknown, or cannot be converted to the one asked for
    ├── RegisterError      a counter did something no counter does
    ├── StepError          a step failed; carries the step's name, the reason is its cause
    └── CheckpointError    a stored result cannot be used
"""

from __future__ import annotations


class TallyflowError(Exception):
    """Root of everything this package raises on purpose."""

    exit_code = 1


class ConfigError(TallyflowError):
    """The pipeline file does not say what it should."""

    exit_code = 2


class SourceError(TallyflowError):
    """A source is missing, is not in the format it claims, or has too many bad rows."""

    exit_code = 3


class RowError(SourceError):
    """One row cannot be turned into a reading."""


class UnitError(TallyflowError):
    """An unknown unit, or two units of different dimensions."""


class RegisterError(TallyflowError):
    """A meter register fell without a rollover that could explain it."""


class StepError(TallyflowError):
    """A step of the pipeline failed."""

    exit_code = 4

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"step {step!r} failed: {reason}")
        self.step = step


class CheckpointError(TallyflowError):
    """A checkpoint is damaged or was written by another version."""
