"""What git knows, asked in few processes however many commits there are."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self, cast

from evals.errors import CannotJudgeError, ConfigurationError

_FIELDS: Final = ("%H", "%P", "%aI", "%aN", "%s")
_STAY: Final = ("-c", "protocol.allow=never", "-c", "log.showSignature=false")
"""Nothing is fetched: a clone that holds not everything says so."""


@dataclass(frozen=True)
class Commit:
    """A commit; `parents` are the nearest commits before it that touched the files asked for, the main line's first."""

    sha: str
    parents: tuple[str, ...]
    date: str
    author: str
    subject: str


@dataclass(frozen=True)
class Repository:
    """A checkout at `root`, which stands at `prefix` (empty, or ending in a slash) of its repository."""

    program: str
    root: Path
    prefix: str

    @classmethod
    def at(cls, root: Path) -> Self:
        """The repository around a checkout.

        Raises:
            ConfigurationError: git is not installed, or there is no repository.
        """
        program = shutil.which("git")
        if program is None:
            raise ConfigurationError("history is read out of git, which is not installed; install it")
        words = [program, "-C", str(root), "rev-parse", "--show-prefix"]
        asked = subprocess.run(words, capture_output=True, check=False)  # noqa: S603  # no shell
        if asked.returncode:
            raise ConfigurationError(f"{root} is no git repository; history is read out of one, clone it with git")
        return cls(program, root, os.fsdecode(asked.stdout).removesuffix("\n"))

    def commits(self, paths: Sequence[str]) -> list[Commit]:
        """Those up to HEAD that touched one of the paths, parents before children; merges only where both sides did."""
        told = self._told(
            *("log", "--simplify-merges", "--parents", "--topo-order", "--reverse", "-z"),
            *("--encoding=UTF-8", f"--format={'%x00'.join(_FIELDS)}", "--", *paths),
        )
        fields = told.split("\0")
        records = zip(*[iter(fields)] * len(_FIELDS), strict=False)
        return [Commit(sha, tuple(parents.split()), *rest) for sha, parents, *rest in records]

    def renames(self, pathspec: str) -> dict[str, str]:
        """New path -> old path, of every rename up to HEAD among the files of `pathspec`."""
        told = self._told(
            *("log", "--full-history", "-m", "-M", "--diff-filter=R", "--name-status", "-z", "--format=", "--relative"),
            *("--", pathspec),
        )
        fields = [field for field in told.split("\0") if field]
        return {new: old for _, old, new in zip(*[iter(fields)] * 3, strict=False)}

    @property
    def begins(self) -> frozenset[str]:
        """The commits at which a shallow clone begins; empty where all of history is there."""
        place = Path(self._told("rev-parse", "--git-path", "shallow").strip())
        path = self.root / place
        return frozenset(path.read_text(encoding="ascii").split()) if path.exists() else frozenset()

    def uncommitted(self, path: str) -> bool:
        """Whether the file is another in the checkout than in the last commit."""
        return bool(self._told("--no-optional-locks", "status", "--porcelain", "--", path))

    def objects(self, places: Sequence[tuple[str, str]]) -> list[str | None]:
        """The object at each (commit, path from the checkout's root); None where there is none."""
        names = (f"{commit}:{self.prefix}{path}" for commit, path in places)
        with self._batch("--batch-check", names) as lines:
            return [None if line.endswith(b" missing\n") else line.split()[0].decode() for line in lines]

    def contents(self, objects: Iterable[str]) -> Iterator[bytes]:
        """What each object holds, in order."""
        with self._batch("--batch", objects) as stream:
            while header := stream.readline():
                *_, size = header.split()
                if not size.isdigit():
                    raise CannotJudgeError(_INCOMPLETE)
                yield stream.read(int(size))
                stream.read(1)

    def _told(self, *words: str) -> str:
        command = [self.program, *_STAY, "-C", str(self.root), *words]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # no shell
        if done.returncode:
            raise CannotJudgeError(_cause(done.stderr))
        return done.stdout.decode("utf-8", errors="replace")

    @contextmanager
    def _batch(self, mode: str, names: Iterable[str]) -> Iterator[IO[bytes]]:
        """What `git cat-file` says of many names, which stand in a file: neither side waits for the other."""
        command = [self.program, *_STAY, "-C", str(self.root), "cat-file", mode]
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape"))
            asked.seek(0)
            with subprocess.Popen(  # noqa: S603  # no shell
                command, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=1 << 20
            ) as process:
                try:
                    yield cast("IO[bytes]", process.stdout)
                except BaseException:
                    process.kill()
                    raise
        if process.returncode:
            raise CannotJudgeError(_INCOMPLETE)


_INCOMPLETE: Final = "this clone does not hold all of its history; get the rest with `git fetch --refetch --no-filter`"


def _cause(stderr: bytes) -> str:
    said = stderr.decode("utf-8", errors="replace").strip().splitlines()
    if any("promisor" in line for line in said):
        return _INCOMPLETE
    return f"git cannot tell the history ({said[0] if said else 'no reason given'}); commit a baseline first"
