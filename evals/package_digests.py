"""Digests of installed packages by content: of all that a process has imported, or of packages by name."""

import hashlib
import importlib.util
import json
import marshal
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from evals.source_loader import OWN, STARTED_NS

FOLDER: Final = "libraries"
LOCK: Final = "requirements.lock"
_SITES: Final = ("site-packages", "dist-packages")
_SAID: Final = re.compile(rb"^(Name|Version): *(\S+)", re.MULTILINE)
_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)

Signature = tuple[int, ...]
"""Inode, size, and times of change of a file's content and of its entry, in ns; empty where there is no file."""


def signature(path: str | Path) -> Signature:
    """The signature of a file: it differs after every change, also one that was undone. The last of its times is the
    system's own, and cannot be set."""
    try:
        found = os.stat(path)  # noqa: PTH116 - thousands of files, and a Path takes longer than the question
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@dataclass(frozen=True)
class Listed:
    """Files of packages, the digest of their content and of their signatures, and which packages are not of the version
    that the lock file names, one sentence each."""

    files: tuple[str, ...]
    state: str
    digest: str
    unlike: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    """Digests of the shorter lists that this one grew from. What was kept under one of them is valid: a list whose
    files have changed does not grow, it is dropped."""
    contents: tuple[str, ...] = ()
    """The digest of each file: a list that grows reads what is new."""

    @property
    def is_as_it_was(self) -> bool:
        """Whether no file was written since, not even to be put back."""
        return self.state == _state(self.files)

    def extends(self, earlier: "Listed") -> bool:
        """Whether this list has the files of an earlier one, their content unchanged, and perhaps more."""
        return earlier.digest in (self.digest, *self.earlier)


@dataclass(frozen=True)
class Libraries:
    """The packages that entries of the caches in a folder follow from. `what` names the list of their files."""

    cache: Path
    what: str

    def listed(self) -> Listed | None:
        """The list, its digest that of the files as they are now; None where there is none, or one of them has changed:
        then no entry that was kept before can be used, and `note` lists anew."""
        found = self._read()
        if found is None or found.is_as_it_was:
            return found
        now = replace(_listed(found.files), earlier=found.earlier)
        noted = signature(self._place)
        is_same = now.digest == found.digest
        _drop_stale_bytecode(found.files, valid_until=noted[2] if is_same and noted else 0)
        if is_same:
            self._write(now)
            return now
        with suppress(OSError):
            self._place.unlink()
        return None

    def note(self, more: Iterable[Path] = ()) -> Listed | None:
        """List the files of all packages that this process has imported, and `more`, beside those that are listed.

        Returns None where a file was written since the process began: nobody knows what it has loaded then.
        """
        with self._alone():
            return self._note({*_imported(), *map(str, more)})

    def _note(self, names: set[str]) -> Listed | None:
        found = self.listed()
        files = set(found.files) if found else set()
        added = names - files
        if found is None or added:
            if any(times[2] > STARTED_NS for path in added if (times := signature(path))):
                return None
            earlier = (*found.earlier, found.digest) if found else ()
            found = replace(_listed(sorted(files | added), known=found), earlier=earlier)
            self._write(found)
        return found

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time, so that none overwrites what another one has listed; without a lock where the folder
        cannot be written, as nothing is stored there then."""
        from filelock import FileLock  # noqa: PLC0415 - for who lists, not for who reads a list

        with ExitStack() as stack:
            with suppress(OSError):
                self._place.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(FileLock(self._place.with_suffix(".lock")))
            yield

    @property
    def _place(self) -> Path:
        return self.cache / FOLDER / f"{self.what}.json"

    def _read(self) -> Listed | None:
        try:
            told: dict[str, Any] = json.loads(self._place.read_bytes())
            here = _site()
            files = tuple(os.path.join(here, path) for path in told["files"])  # noqa: PTH118 - as above
            lists = (tuple(told[name]) for name in ("unlike", "earlier", "contents"))
            found = Listed(files, told["state"], told["digest"], *lists)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if len(found.contents) == len(files) else None

    def _write(self, found: Listed) -> None:
        """Replace the list; where that cannot be done, it is made again next time."""
        here = _site() + os.sep
        text = json.dumps({**vars(found), "files": [path.removeprefix(here) for path in found.files]})
        with suppress(OSError):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._place.parent) as scratch:
                whole = Path(scratch) / self._place.name
                whole.write_text(text, encoding="utf-8")
                whole.replace(self._place)


def package_digest(cache: Path, *names: str) -> str:
    """The digest of all files of these packages, for entries that follow from what they do; once per process."""
    return _of_packages(cache, names)


@cache
def _of_packages(folder: Path, names: tuple[str, ...]) -> str:
    kept = Libraries(folder, "-".join(names))
    found = kept.listed()
    if found is None:
        found = _listed(sorted(path for name in names for path in _below(name)))
        kept._write(found)  # noqa: SLF001 - of this module
    return found.digest


def installed() -> frozenset[str]:
    """Name and version of every installed package, as its folder says."""
    return frozenset(path.name.removesuffix(".dist-info") for path in Path(_site()).glob("*.dist-info"))


@cache
def _site() -> str:
    """The folder that packages are installed in."""
    spec = importlib.util.find_spec("pydantic")
    return str(Path(str(spec.origin)).parents[1]) if spec else sys.prefix


def _imported() -> list[str]:
    """The files of all installed packages that this process has imported, and what their installer says of each."""
    found = set()
    for name, module in list(sys.modules.items()):
        with suppress(TypeError):  # some put other objects there
            path = vars(module).get("__file__")
            if isinstance(path, str) and name.partition(".")[0] not in OWN and any(site in path for site in _SITES):
                found.add(path)
    return sorted(found | {str(path) for path in Path(_site()).glob("*.dist-info/METADATA")})


def _below(name: str) -> Iterator[str]:
    spec = importlib.util.find_spec(name)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield from (str(path) for path in Path(place).rglob("*") if path.suffix in {".py", ".so", ".pyd"})


def _listed(files: Iterable[str], known: Listed | None = None) -> Listed:
    """The list of these files; those of a `known` list, which is as it was, are not read again."""
    paths = tuple(files)
    before = dict(zip(known.files, known.contents, strict=True)) if known else {}
    signatures = [signature(path) for path in paths]  # before they are read: a change meanwhile shows
    here = _site() + os.sep
    content = hashlib.sha256(sys.version.encode())
    installed, contents = {}, []
    for path, signed in zip(paths, signatures, strict=True):
        digest, said = (before[path], None) if path in before else _content(path, signed)
        content.update(f"{path.removeprefix(here)} {digest}\n".encode())
        contents.append(digest)
        if said:
            installed[said[0]] = said[1]
    unlike = {*(known.unlike if known else ()), *_unlike(installed)}
    return Listed(
        paths, _state(paths, signatures), content.hexdigest(), tuple(sorted(unlike)), contents=tuple(contents)
    )


@cache
def _content(path: str, _signature: Signature) -> tuple[str, tuple[str, str] | None]:
    """The digest of a file; of a package's METADATA also its name and version."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return "absent", None
    told = dict(_SAID.findall(content)[:2]) if path.endswith("METADATA") else {}
    said = (normal_name(told[b"Name"].decode()), told[b"Version"].decode()) if len(told) == 2 else None
    return hashlib.sha256(content).hexdigest(), said


def _unlike(installed: dict[str, str]) -> tuple[str, ...]:
    """What is installed in another version than the lock file beside this package names."""
    lock = Path(__file__).parents[1] / LOCK
    if not installed or not lock.exists():
        return ()
    pinned: dict[str, list[str]] = {}  # one name may have versions for several Pythons
    for name, version in _PINNED.findall(lock.read_text(encoding="utf-8")):
        pinned.setdefault(normal_name(name), []).append(version)
    return tuple(
        f"{name} {version} is installed, {LOCK} names {' or '.join(pinned[name])}; `make -B setup` installs that"
        for name, version in sorted(installed.items())
        if version not in pinned.get(name, [version])
    )


def normal_name(name: str) -> str:
    """A package's name in lower case, with one dash for each run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _state(files: Sequence[str], signatures: Sequence[Signature] | None = None) -> str:
    """The digest of the files' signatures, which are looked up unless they are known."""
    lock = str(Path(__file__).parents[1] / LOCK)
    told = list(zip((*files, lock), (*(signatures or map(signature, files)), signature(lock)), strict=True))
    return hashlib.sha256(marshal.dumps(told, 2)).hexdigest()  # version 2: equal values, equal bytes


def _drop_stale_bytecode(files: Iterable[str], valid_until: int) -> None:
    """Remove bytecode that is older than the last change of its source: where size and time were set back, Python would
    execute it in the place of what was digested.

    Bytecode up to `valid_until` (ns) stays: it is of the listed content. An installer that links the same files into
    another environment changes the times of their entries, and nothing else.
    """
    for path in files:
        if path.endswith(".py"):
            compiled = importlib.util.cache_from_source(path)
            source, bytecode = signature(path), signature(compiled)
            if source and bytecode and valid_until < bytecode[-1] < source[-1]:
                with suppress(OSError):
                    Path(compiled).unlink()
