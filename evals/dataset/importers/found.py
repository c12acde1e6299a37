"""What an importer finds in one row: an issue with what its source says about it, or why there is none."""

from dataclasses import dataclass
from typing import Literal

Source = Literal["swebench", "locagent", "bugsinpy", "github"]


class RefusedRowError(Exception):
    """This row becomes no case; the message says why. The other rows go on."""


@dataclass(frozen=True)
class Issue:
    """One foreign issue. Only `text` is ever shown to an agent.

    `files` are where its fix changed code that was there before; `functions` are outermost definitions (`path::name`),
    and empty unless the source states them: a hunk header's context line is no proof. `whole_names` are the same by
    their dotted names. `base_commit` is the commit its fix was made to, as its source has it, and `patch` that fix;
    `commit` is the same where its code was taken in, else empty. `is_code` says that the source vouches for a fault in
    the code. `notes` is what a reader of the import should know.
    """

    row: str
    name: str
    repository: str
    text: str
    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    whole_names: tuple[str, ...] = ()
    base_commit: str = ""
    patch: str = ""
    commit: str = ""
    is_code: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A row that becomes no case, and why."""

    row: str
    name: str
    why: str
