"""`evals cassette text`: a cassette file as git's textconv wants it."""

import io
import sys
from pathlib import Path

from evals.cassette.migrations import read_any
from evals.cassette.transcript import transcript
from evals.errors import EXIT_OK, CassetteError, ConfigurationError, SecretFoundError


def text(path: Path) -> int:
    """Print the file as text. Returns 0 also for a file no replay would trust: a converter that fails ends the whole
    `git diff`, so that its text is then the cause and the file as it is; one that holds a secret is withheld.

    Raises:
        ConfigurationError: there is no such file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}); name a cassette file") from error
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # git reads UTF-8, whatever the locale
    sys.stdout.writelines(line + "\n" for line in _lines(content, path))
    return EXIT_OK


def _lines(content: bytes, path: Path) -> list[str]:
    try:
        return list(transcript(read_any(content, path).interactions)) if content else []
    except SecretFoundError as error:
        return [f"(withheld) {error}"]
    except CassetteError as error:
        return [f"(as it is) {error}", content.decode(errors="backslashreplace")]
