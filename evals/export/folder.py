"""Files of a folder, each there whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from evals.errors import ConfigurationError


def write_files(folder: Path, files: Mapping[str, str | Iterable[str]]) -> None:
    """Write texts, or the pieces of texts, by name into a folder; each appears whole or not at all.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            place = folder / name
            _replace(place, text)
    except OSError as error:
        raise ConfigurationError(f"{place}: cannot be written ({error.strerror}); name another --out") from error


def _replace(path: Path, text: str | Iterable[str]) -> None:
    prefix = f".{path.name}."  # what a kill leaves of it is no file of the report
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=prefix, encoding="utf-8", delete=False) as scratch:
        try:
            scratch.writelines((text,) if isinstance(text, str) else text)
            scratch.close()
            os.chmod(scratch.name, 0o644)  # noqa: PTH101 - temporary files are private; a report is for everyone
            Path(scratch.name).replace(path)
        except BaseException:  # a folder of that name, a full disk, Ctrl-C: nothing half written stays
            Path(scratch.name).unlink(missing_ok=True)
            raise
