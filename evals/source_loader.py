"""Loader for this project's own modules: it executes the source as it stands, and remembers which source that was."""

import importlib.util
import marshal
import os
import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

OWN: Final = frozenset({"evals", "triage"})
"""The packages whose modules are loaded so."""

_FILE: Final = "file_"

STARTED_NS: Final = time.time_ns()
"""When this process began to load this package, in ns since 1970."""

_INSTALLED: Final = (os.path.dirname(os.__file__), *(each for each in sys.path if each.endswith("-packages")))  # noqa: PTH120

_CHECKED: Final = importlib.util.MAGIC_NUMBER + (0b11).to_bytes(4, "little")
"""How bytecode begins that holds the hash of its source, to be compared with it."""
_HASH: Final = slice(len(_CHECKED), len(_CHECKED) + 8)

_sources: Final[dict[str, bytes]] = {}
_digests: Final[dict[str, str]] = {}


def executed() -> dict[str, str]:
    """Path of a source file -> sha256 (hex) of the source that this process executes."""
    if len(_digests) < len(_sources):
        import hashlib  # noqa: PLC0415 - takes longer than all the rest here

        for path in [*_sources]:
            if path not in _digests:
                _digests[path] = hashlib.sha256(_sources[path]).hexdigest()
                _sources[path] = b""
    return _digests


def digest_of_code(path: Path) -> str:
    """The digest (sha256, hex) of a file of code: of the source that this process executes, or of what stands on disk
    where it executes none of it. Raises OSError."""
    known = executed().get(str(path))
    if known is None:
        now = path.stat()
        known = _on_disk(path, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
    return known


@lru_cache(2048)
def _on_disk(path: Path, *_as_of: int) -> str:
    import hashlib  # noqa: PLC0415 - as above

    return hashlib.sha256(path.read_bytes()).hexdigest()


class _Loader(SourceFileLoader):
    """Reads the source in any case, and compiles it unless there is bytecode of exactly this source. Of modules of a
    target it is not noted which source that is: the processes of trials may execute another one."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        if fullname.partition(".")[0] in OWN or fullname.startswith(_FILE):
            _sources[path] = source
            _digests.pop(path, None)  # it may be loaded again
        try:
            place = importlib.util.cache_from_source(path)
        except NotImplementedError:  # this Python keeps no bytecode
            return self.source_to_code(source, path)
        head = _CHECKED + importlib.util.source_hash(source)
        code = self._compiled(place, head)
        if code is None:
            code = self.source_to_code(source, path)
            if not sys.dont_write_bytecode:
                self.set_data(place, head + marshal.dumps(code))
        return code

    def _compiled(self, place: str, head: bytes) -> CodeType | None:
        try:
            data = self.get_data(place)
            found = marshal.loads(memoryview(data)[_HASH.stop :]) if data.startswith(head) else None  # noqa: S302
        except (OSError, EOFError, ValueError, TypeError):  # none there, or a damaged one
            return None
        return found if isinstance(found, CodeType) else None


class _Finder:
    """Finds what the others find, and puts a loader above in the place of Python's own, but for installed packages."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                own = name.partition(".")[0] in OWN
                if type(spec.loader) is SourceFileLoader and (own or not spec.loader.path.startswith(_INSTALLED)):
                    spec.loader = _Loader(spec.loader.name, spec.loader.path)
                return spec
        return None


def load_file(path: Path, kind: str = _FILE) -> ModuleType:
    """The module of a source file outside of these packages, loaded once. Raises whatever the file raises."""
    name = f"{kind}{path.stem}_{importlib.util.source_hash(str(path).encode()).hex()}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # never None with a loader
        sys.modules[name] = module
        try:
            module.__loader__.exec_module(module)  # type: ignore[union-attr]
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def find_modules_in(root: Path) -> None:
    """Modules of a project are found from now on, after all others: at `root` and in its `src`."""
    sys.path += [str(each) for each in (root, root / "src") if each.is_dir() and str(each) not in sys.path]


def other_place(module: ModuleType, name: str, root: Path) -> Path | None:
    """Where the module comes from, if the project at `root` has one of that name and it is another project's."""
    own, found = root / f"{name.replace('.', '/')}.py", Path(getattr(module, "__file__", None) or "")
    return found if own.is_file() and not own.samefile(found) else None


def install() -> None:
    """Load own modules so from now on; those that are loaded already are taken to be what stands on disk now."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OWN and (path := getattr(module, "__file__", None)) and os.path.isfile(path):  # noqa: PTH113
            _sources[path] = Path(path).read_bytes()
    sys.meta_path.insert(0, _Finder())
