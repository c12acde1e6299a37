"""Files of a folder, each there whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evals.errors import ConfigurationError

PREVIOUS: Final = "previous"
"""Where the report of the run before is, until there is a new one."""
_REPORT: Final = ("run.json", "summary.md", "junit.xml", "index.html")


@contextmanager
def new_report(folder: Path) -> Iterator[None]:
    """What is in the folder of a report is not taken for the report of the run in the block, whatever becomes of that:
    it is moved to `previous`, and goes when the block comes to its end.

    Raises:
        ConfigurationError: it cannot be moved.
    """
    before = folder / PREVIOUS
    try:
        if (folder / _REPORT[0]).is_file():
            before.mkdir(exist_ok=True)
            for name in _REPORT:  # the verdict first: a page without it is no report of anything
                if (folder / name).is_file():
                    (folder / name).replace(before / name)
    except OSError as error:
        raise ConfigurationError(f"{folder}: cannot be written ({error.strerror}); name another --out") from error
    yield
    shutil.rmtree(before, ignore_errors=True)


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
