"""Cache of finished trials, and digests of everything a trial depends on."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from evals.application_pack import Pack
from evals.content_cache import Kept, digest_of
from evals.errors import CannotJudgeError
from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.package_digests import LOCK, Libraries, Signature, signature
from evals.paths import PACKAGE
from evals.secret_filter import allowed_beside, fit_to_write
from evals.shared.display_text import some
from evals.source_loader import OWN, digest_of_code, executed
from evals.workspace import Workspace

_HARNESS: Final = (
    "cassettes/**/*.py",
    "models/**/*.py",
    "runner/**/*.py",
    "secret_filter.py",
    "shared/**/*.py",
    "errors.py",
    "content_cache.py",
    "package_digests.py",
    "source_loader.py",
    "imported_files.py",
    "application_pack.py",
    "paths.py",
    "shortcut_switch.py",
    "project.py",
    "prompt_hunks.py",
    "prompt_versions.py",
    "gc_pause.py",
    "fork_server.py",
    "workspace.py",
    "safe_yaml.py",
    "atomic_files.py",
)
"""Modules below this package that decide what a trace contains."""

ABSENT: Final = "absent"
"""The digest of a file that is not there."""


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; "absent" when there is none."""
    try:
        return digest_of(path.read_bytes())
    except FileNotFoundError:
        return ABSENT


def digest_of_replaced(path: Path) -> str:
    """`file_digest` of a file that is only ever replaced as a whole, as cassettes and vectors are: read once for all
    trials."""
    return _digest_as_of(path, signature(path))


@lru_cache(1024)
def _digest_as_of(path: Path, _signature: Signature) -> str:
    return file_digest(path)


def code_digest(root: Path, pack: Pack) -> str:
    """The digest of the graph's code and agent prompts, of the harness that drives it, and of the pinned libraries.

    Supervisor prompts are left out: each variant brings the digest of its own.
    """
    prompts = tuple((shown_place(path, root), digest) for path, digest in read_files(pack, root).items())
    return _joined(root, signature(root / LOCK), prompts, pack)


def shown_place(path: Path, root: Path | None = None) -> str:
    """The path from the folder of this package, or from the project's `root`: the same in every copy of the project.
    Only its name where it is elsewhere."""
    inside = path.is_relative_to(PACKAGE)  # also where it is installed below the root
    folders = (PACKAGE.parent,) if inside or root is None else (root.resolve(), PACKAGE.parent)
    return next((path.relative_to(each).as_posix() for each in folders if path.is_relative_to(each)), path.name)


@cache
def _joined(root: Path, _signature: Signature, prompts: tuple[tuple[str, str], ...], pack: Pack) -> str:
    files = (
        *((shown_place(path, root), digest) for path, digest in code_digests(pack, root).items()),
        *prompts,
        ("lock", file_digest(root / LOCK)),
    )
    return digest_of(*(part.encode() for file in files for part in file))


@cache
def code_digests(pack: Pack, root: Path) -> dict[Path, str]:
    """Each module that a trial's result depends on, with the digest of what this process executes of it, or of what
    stands there where it executes none."""
    modules = (path for path in _of_pack(pack, root) if path.suffix == ".py")
    harness = (path for pattern in _HARNESS for path in sorted(PACKAGE.glob(pattern)))
    return {path: digest_of_code(path) for path in (*modules, *harness)}


def read_files(pack: Pack, root: Path) -> dict[Path, str]:
    """Each file that is no module, prompts of agents for one, with the digest of what stands there: the graph reads it
    when it is put together, or in a trial."""
    return {path: digest_of_replaced(path) for path in _of_pack(pack, root) if path.suffix != ".py"}


def foreign_modules(pack: Pack, root: Path) -> list[Path]:
    """The modules that our loader does not load, so that nobody knows what of them was executed: they must stay as they
    are while trials run."""
    own = [PACKAGE.parent / name for name in OWN]
    modules = (path for path in _of_pack(pack, root) if path.suffix == ".py")
    return [path for path in modules if not any(map(path.is_relative_to, own))]


@cache
def _of_pack(pack: Pack, root: Path) -> list[Path]:
    return pack.code_files(root)


def rests_on(
    suite: Suite, cases: Sequence[Case], variants: Sequence[VariantInfo], workspace: Workspace
) -> dict[str, str]:
    """Digests of suite, variants and their prompts, cases, recordings and code."""
    return {
        "suite": digest_of(suite.model_dump_json().encode()),
        "variants or prompts": digest_of(*(info.model_dump_json().encode() for info in variants)),
        "cases": digest_of(*(f"{case.id} {case.digest}".encode() for case in cases)),
        "cassettes": digest_of(
            file_digest(workspace.vectors).encode(),
            *((file_digest(workspace.distances).encode(),) if any(case.tree for case in cases) else ()),
            *(file_digest(workspace.cassette(case.id)).encode() for case in cases),
        ),
        "code": code_digest(workspace.root, workspace.pack),
    }


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """The things whose digests differ, or that only one of them has."""
    return tuple(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)))


TICK: Final = 0.05
"""Seconds within which a file system may give two changes one time."""


class ChangedError(CannotJudgeError):
    """Files are no longer what the trials of this run are named by."""

    def __init__(self, changed: Iterable[str]) -> None:
        super().__init__(f"changed while the run was under way: {some(sorted(changed))}; run it again")


@dataclass(frozen=True)
class Pins:
    """Digests of code by path, and signatures of files, as they were when trials were named. It can be sent to another
    process."""

    code: Mapping[str, str]
    files: Mapping[str, Signature]

    @classmethod
    def of(cls, variants: Iterable[VariantInfo], workspace: Workspace) -> "Pins":
        """The pins of a run; taken before the files are read that its trials are named by."""
        pack = workspace.pack
        named = [path for info in variants for path in pack.variant_files(info.variant)]
        read = [*read_files(pack, workspace.root), *foreign_modules(pack, workspace.root)]
        files = [*read, *named, workspace.vectors, workspace.distances]
        return cls(
            {str(path): digest for path, digest in code_digests(pack, workspace.root).items()}, _signatures(files)
        )

    @property
    def paths(self) -> list[Path]:
        """All that is pinned."""
        return [Path(path) for path in (*self.code, *self.files)]

    def changed(self) -> list[str]:
        """The files that are not as pinned: of which this process executes another source, or that were written since,
        even if that was undone."""
        code = [path for path, digest in executed().items() if self.code.get(path, digest) != digest]
        files = [path for path, before in self.files.items() if signature(Path(path)) != before]
        return [shown_place(Path(path)) for path in (*code, *files)]

    def check(self) -> None:
        """Raises ChangedError where something is not as pinned."""
        if changed := self.changed():
            raise ChangedError(changed)


def _signatures(files: Iterable[Path]) -> dict[str, Signature]:
    """The signatures of the files; of one that changed a moment ago when another change would show."""
    found = {str(path): signature(path) for path in files}
    newest = max((times[-1] for times in found.values() if times), default=0)
    if 0 <= time.time_ns() - newest < TICK * 1e9:
        time.sleep(TICK)
        return {path: signature(Path(path)) for path in found}
    return found


class TraceCache:
    """A folder of traces. A damaged entry is as good as none; failed trials, and those with live answers, are never
    kept."""

    def __init__(self, folder: Path) -> None:
        self._kept = Kept(folder)

    def get(self, digest: str) -> Trace | None:
        """The trace stored under `digest`, if there is a sound one."""
        trace = self._kept.get(digest)
        try:
            return None if trace is None else Trace.model_validate_json(trace)
        except ValidationError:
            return None

    def has(self, digest: str) -> bool:
        """Whether a trace is there; `get` knows if it is sound."""
        return self._kept.has(digest)

    def put(self, digest: str, trace: Trace) -> None:
        """Store a trace, if it may be. Raises OSError, which names the file."""
        if content := self.content(trace):
            self.write(digest, content)

    def content(self, trace: Trace) -> bytes | None:
        """What is stored of a trace: nothing of a failed one, of one that asked a live service, and of one that holds a
        secret: they are run again each time. It has a secret from its case, as nothing that was recorded holds one."""
        if trace.provenance.label == "failed" or trace.live:
            return None
        text = trace.model_dump_json()
        return text.encode() if fit_to_write(text, allowed_beside(self._kept.folder)) == text else None

    def write(self, digest: str, content: bytes) -> None:
        """Store the content of a trace. Raises OSError, which names the file."""
        self._kept.put(digest, content)


LIST: Final = "trials"
"""Name of the list of packages that trials follow from."""
FLUSH: Final = 3.0
"""Seconds between two writings."""
ELSEWHERE: Final = "elsewhere"
"""In the place of a digest, for trials that ran on other machines: their packages are compared by version only."""


class Keeper:
    """The kept trials of a checkout. Close it at the end.

    Nothing is found as long as nobody has listed what is installed: `note` does, after the first trial.
    """

    def __init__(self, cache: Path, *, elsewhere: bool = False) -> None:
        self._traces = TraceCache(cache / LIST)
        self._libraries = Libraries(cache, LIST)
        self._elsewhere = elsewhere
        self._listed = None if elsewhere else self._libraries.listed()
        self._waiting: dict[str, bytes] = {}
        self._flushed = time.monotonic()

    def get(self, digest: str) -> Trace | None:
        """The trace kept under `digest`, if there is a sound one."""
        found = map(self._traces.get, self._names(digest))
        return next((trace for trace in found if trace is not None), None)

    def may_lack(self, digests: Iterable[str]) -> bool:
        """Whether one of the traces is not there; of one that is there, `get` knows if it is sound."""
        return not all(any(map(self._traces.has, self._names(digest))) for digest in digests)

    def put(self, digest: str, trace: Trace) -> None:
        """Keep a trace, soon. Raises OSError, which names the file, and ChangedError as `flush` does."""
        if content := self._traces.content(trace):  # now, while workers run trials
            self._waiting[digest] = content
        if time.monotonic() - self._flushed > FLUSH:
            self.flush()

    def close(self) -> None:
        """`flush`, however the run ends."""
        self.flush()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            ChangedError: an installed package holds something else than when the run began: nobody knows what the
                trials since the last writing have run with, and they are not kept.
        """
        waiting, self._waiting, self._flushed = self._waiting, {}, time.monotonic()
        if not waiting:
            return
        if not self._elsewhere:
            self._look_again()
        for digest, content in waiting.items():
            for name in self._names(digest)[:1]:
                self._traces.write(name, content)

    def _look_again(self) -> None:
        """Take the list of packages as it is now: trials import packages when they need them, so it grows.

        Raises ChangedError as `flush` does.
        """
        before, self._listed = self._listed, self._libraries.listed()
        if before is not None and (self._listed is None or not self._listed.extends(before)):
            raise ChangedError(["installed packages"])

    def _names(self, digest: str) -> list[str]:
        """What a trace may be stored under, the present list of packages first; nothing as long as there is none."""
        if self._elsewhere:
            return [digest_of(digest.encode(), ELSEWHERE.encode())]
        lists = (self._listed.digest, *self._listed.earlier) if self._listed else ()
        return [digest_of(digest.encode(), each.encode()) for each in lists]


def note(cache: Path) -> None:
    """List what this process has imported, after a trial that imported something."""
    modules = len(sys.modules)
    if _noted.get(cache) != modules:
        _noted[cache] = modules
        Libraries(cache, LIST).note()


_noted: Final[dict[Path, int]] = {}
