"""What stays as it is while tests run, and is looked at once a process: certificates, files of installed packages, the
shipped cases, and what our own scorers import.
"""

import ssl
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import httpcore2

from evals import package_digests, workspace
from evals.application_pack import load_pack
from evals.comparison import baseline
from evals.paths import PACKAGE
from evals.pipeline import kept_verdict
from evals.triage.dataset import load_cases
from evals.triage.pack import TriagePack

SITE = sysconfig.get_path("purelib")
SHIPPED = PACKAGE.parent / "datasets"
_own_files = kept_verdict._own_files
_load_case = load_cases.load_case
_refuse_what_is_no_file = workspace._refuse_what_is_no_file
_imported_by = baseline.imported_by
_cases: dict[tuple[Path, str], Any] = {}
_asked = package_digests.signature
_remembered = cache(_asked)
_listed_now = package_digests.Libraries.listed
_made_list = package_digests._listed
_looked_through = package_digests._imported
_found: dict[tuple[object, ...], package_digests.Listed] = {}
_seen: set[str] = set()
_files_only: set[Path] = set()
_imported_so_far: set[str] = set()
_SITES_OF_TESTS = package_digests._SITES


def read_once() -> None:
    """A client takes 30 ms to read the certificates of all authorities, to speak to loopback without them; and each run
    looks at some 2,500 files of packages, twice or more, and for all files of this one. The shipped cases take a
    second, and each baseline reads a hundred files of ours."""
    ssl.create_default_context = cache(ssl.create_default_context)
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
    package_digests.signature = _signature
    package_digests.Libraries.listed = _listed  # type: ignore[method-assign]
    package_digests._listed = _listed_files
    package_digests._imported = _imported_files
    kept_verdict._own_files = cache(lambda: tuple(_own_files()))  # type: ignore[assignment]
    TriagePack.code_files = cache(TriagePack.code_files)  # type: ignore[method-assign]
    load_cases.load_case = _case  # type: ignore[assignment]
    workspace._refuse_what_is_no_file = _refuse_shipped_once
    baseline.imported_by = _imported


def read_now() -> None:
    """For processes that are forked off this one."""
    package_digests._listed(package_digests._imported())
    for pack in ("evals.triage.pack", "evals.target.pack"):
        baseline.scorers_digest(load_pack(pack))


def _listed(self: package_digests.Libraries) -> package_digests.Listed | None:
    """The list in a file that is as it was, of files that stay as they are."""
    if told := _found.get(key := (self, _asked(str(self._place)))):
        return told
    found = _listed_now(self)
    if found and all(path.startswith(SITE) for path in found.files):
        _found[key] = found
    return found


def _listed_files(files: Iterable[str], known: package_digests.Listed | None = None) -> package_digests.Listed:
    paths = tuple(files)
    stay = package_digests.signature is _signature and all(path.startswith(SITE) for path in paths)
    return _list_that_stays(paths) if stay else _made_list(paths, known)


@cache
def _list_that_stays(paths: tuple[str, ...]) -> package_digests.Listed:
    return _made_list(paths)


def _imported_files() -> list[str]:
    """Of the modules that were loaded since the last look, and those found before."""
    if package_digests._SITES is not _SITES_OF_TESTS or package_digests._site() != SITE:
        return _looked_through()
    if not _imported_so_far:
        _imported_so_far.update(_looked_through())
    else:
        loaded = (getattr(sys.modules.get(name), "__file__", None) for name in sys.modules.keys() - _seen)
        _imported_so_far.update(path for path in loaded if isinstance(path, str) and path.startswith(SITE))
    _seen.update(sys.modules)
    return sorted(_imported_so_far)


def _signature(path: str) -> package_digests.Signature:
    return (_remembered if str(path).startswith(SITE) else _asked)(path)


def _case(root: Path, case_id: str, *rest: Any) -> Any:
    place = root.absolute()
    if not place.is_relative_to(SHIPPED):
        return _load_case(root, case_id, *rest)
    if (place, case_id) not in _cases:
        _cases[place, case_id] = _load_case(root, case_id, *rest)
    return _cases[place, case_id]


def _refuse_shipped_once(folder: Path, checkout: workspace.Workspace) -> None:
    """Folders of this checkout hold some 1,700 files."""
    if checkout.root != PACKAGE.parent or not folder.is_relative_to(checkout.root):
        _refuse_what_is_no_file(folder, checkout)
    elif folder not in _files_only:
        _refuse_what_is_no_file(folder, checkout)
        _files_only.add(folder)


def _imported(
    modules: Iterable[Path], package: Path, without: Collection[str] = (), *, is_root: bool = False
) -> dict[Path, bytes]:
    ask = _ours if package == PACKAGE else _imported_by
    return dict(ask(tuple(modules), package, tuple(without), is_root=is_root))


_ours: Callable[..., dict[Path, bytes]] = cache(_imported_by)
