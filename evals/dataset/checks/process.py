"""Running a dataset's code: in a process of its own, on a copy, with nothing of this machine in its environment."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final, NamedTuple

TIMEOUT_S: Final = 20


class Run(NamedTuple):
    """How a process ended; `code` is None if it had to be stopped."""

    code: int | None
    stderr: str

    @property
    def said(self) -> str:
        """The end of what was said, on one line: the exception, or unittest's count and result."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return " | ".join(lines[-3:])


def run_python(tree: Path, *arguments: Path | str, seed: int = 0, bare: bool = False) -> Run:
    """Runs Python with a throw-away copy of `tree` as working directory and import path; `seed` orders its sets.

    Whatever the code writes vanishes with the copy: the tree the agents read stays as it was built. A `bare` one finds
    no installed library, and starts in a third of the time.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(tree, Path(scratch) / "tree")
        command = [
            sys.executable,
            *(["-S"] if bare else []),
            *(str(each.resolve() if isinstance(each, Path) else each) for each in arguments),
        ]
        try:
            done = subprocess.run(  # noqa: S603 -- our own interpreter on code of our own dataset
                command,
                cwd=copy,
                env=_environment(copy, seed),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Run(None, "")
        return Run(done.returncode, done.stderr)


PATIENCE_S: Final = 60
"""For code of released packages, which may be large, and is compiled by whoever imports it first."""


def run_apart(script: Path, folders: Iterable[Path], environment: Mapping[str, str], *, seed: int = 0) -> Run:
    """Runs a script that can import from these folders and the standard library alone, in an empty folder of its own.

    The time zone is UTC and the home empty unless `environment` says otherwise: nothing of this machine decides.
    Runs of this process share bytecode: a case is run half a dozen times over the same two releases.
    """
    with tempfile.TemporaryDirectory() as scratch:
        path = os.pathsep.join(str(folder.resolve()) for folder in folders)
        ours = {"PYTHONPATH": path, "HOME": scratch, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        ours |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(_bytecode())}
        try:
            done = subprocess.run(  # noqa: S603 -- our own interpreter on a repro of our own dataset
                [sys.executable, "-S", "-P", str(script.resolve())],
                cwd=scratch,
                env=_environment(Path(path), seed) | ours | dict(environment),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Run(None, "")
        return Run(done.returncode, done.stderr)


@contextmanager
def copied(tree: Path, changed: Iterable[str]) -> Iterator[Path]:
    """A throw-away copy of `tree`, for files of these names in it to be changed. What runs of this process compiled of
    the tree serves the copy as well: Python goes by a source's time and size, which a file that is changed within a
    second may even keep, so of those nothing is taken over.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(tree, Path(scratch).resolve() / "tree")
        compiled, known = _compiled_of(copy), _compiled_of(tree)
        if known.is_dir():
            shutil.copytree(known, compiled)
        for name in map(Path, changed):
            for stale in (compiled / name.parent).glob(f"{name.stem}.*.pyc"):
                stale.unlink()
        try:
            yield copy
        finally:
            shutil.rmtree(compiled, ignore_errors=True)


def _compiled_of(folder: Path) -> Path:
    resolved = folder.resolve()
    return _bytecode() / resolved.relative_to(resolved.anchor)


@cache
def _bytecode() -> Path:
    """A folder that goes with this process, a worker of a pool or not: beside the sources, nobody would check it."""
    folder = Path(tempfile.mkdtemp(prefix="bytecode-"))
    Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=0)
    return folder


def _environment(tree: Path, seed: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    roots = [str(tree), *([str(tree / "src")] if (tree / "src").is_dir() else [])]
    ours = {
        "PYTHONPATH": os.pathsep.join(roots),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(seed),
        "PYTHONUTF8": "1",
    }
    return kept | ours
