"""Every error the triage team raises on purpose, as one tree; each is one line that says what to do next.

    TriageError              exit 2 unless said otherwise
    ├── InputError           the issue, the repository or an option cannot be used
    ├── ConfigurationError   also a ValueError: an unknown guard set or supervisor, a missing key
    │   ├── PromptError      a prompt file cannot be used; the message starts with its path
    │   └── PlanError        a plan file cannot be used; the message starts with its name and says the line
    ├── CheckpointError      a stored job cannot be resumed
    ├── HostError            exit 3: the host of the issue gave no answer
    └── StoppedError         exit 130: Ctrl-C while a job was under way

Outages of the endpoint are not in the tree: they surface as the client library raised them.
"""

from typing import ClassVar, Final

EXIT_OK: Final = 0
EXIT_USAGE: Final = 2
EXIT_OUTAGE: Final = 3
EXIT_UNFINISHED: Final = 4
EXIT_UNFOUNDED: Final = 5
EXIT_INTERRUPTED: Final = 130

INTERRUPTED: Final = "interrupted; `triage jobs` lists what is kept"
"""What Ctrl-C says where no job is under way."""


class TriageError(Exception):
    """The root of the tree. `str(error)` is one line that says what to do."""

    exit_code: ClassVar[int] = EXIT_USAGE


class InputError(TriageError):
    """The issue, the repository or an option cannot be used."""


class ConfigurationError(TriageError, ValueError):
    """The graph is asked for something it does not have, or lacks something it needs."""


class PromptError(ConfigurationError):
    """A prompt file cannot be used; the message starts with its path."""


class PlanError(ConfigurationError):
    """A plan file cannot be used; the message starts with its name and says the line."""


class CheckpointError(TriageError):
    """A stored job cannot be resumed."""


class HostError(TriageError):
    """The host of the issue gave no answer, or not what it should have."""

    exit_code: ClassVar[int] = EXIT_OUTAGE


class StoppedError(TriageError):
    """Ctrl-C while a job was under way; the message says how to go on."""

    exit_code = EXIT_INTERRUPTED
