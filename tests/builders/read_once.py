"""What stays as it is while tests run, and is looked at once a process: certificates, files of installed packages."""

import ssl
import sysconfig
from functools import cache

import httpcore2

from evals import installed_packages
from evals.comparison.baseline import scorers_digest
from evals.pack import load_pack
from evals.pipeline import changed_files

SITE = sysconfig.get_path("purelib")
_own_files = changed_files._own_files
_asked = installed_packages.signature
_remembered = cache(_asked)
_listed_now = installed_packages.Libraries.listed
_found: dict[tuple[object, ...], installed_packages.Listed] = {}


def read_once() -> None:
    """A client takes 30 ms to read the certificates of all authorities, to speak to loopback without them; and each run
    looks at some 2,500 files of packages, twice or more, and for all files of this one."""
    ssl.create_default_context = cache(ssl.create_default_context)
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
    installed_packages.signature = _signature
    installed_packages.Libraries.listed = _listed  # type: ignore[method-assign]
    changed_files._own_files = cache(lambda: tuple(_own_files()))  # type: ignore[assignment]


def read_now() -> None:
    """For processes that are forked off this one."""
    installed_packages._listed(installed_packages._imported())
    for pack in ("evals.triage.pack", "evals.target.pack"):
        scorers_digest(load_pack(pack))


def _listed(self: installed_packages.Libraries) -> installed_packages.Listed | None:
    """The list in a file that is as it was, of files that stay as they are."""
    if told := _found.get(key := (self, _asked(str(self._place)))):
        return told
    found = _listed_now(self)
    if found and all(path.startswith(SITE) for path in found.files):
        _found[key] = found
    return found


def _signature(path: str) -> installed_packages.Signature:
    return (_remembered if str(path).startswith(SITE) else _asked)(path)
