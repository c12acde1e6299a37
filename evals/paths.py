"""Paths of this package's own files, and paths that users of the Python interface give."""

from pathlib import Path
from typing import Final

from evals.errors import ConfigurationError

PACKAGE: Final = Path(__file__).parent


def path_of_user(given: object, name: str) -> Path:
    """The path in an argument that may be a text too. Raises ConfigurationError if it is neither."""
    if not isinstance(given, str | Path):
        raise ConfigurationError(f"{name} is {given!r}; give a path")
    return Path(given)
