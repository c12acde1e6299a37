"""What stays as it is while tests run, and is looked at once a process: certificates, files of installed packages."""

import ssl
import sysconfig
from functools import cache

import httpcore2

from evals import installed_packages
from evals.comparison.baseline import scorers_digest
from evals.pack import load_pack

SITE = sysconfig.get_path("purelib")
_asked = installed_packages.signature
_remembered = cache(_asked)


def read_once() -> None:
    """A client takes 30 ms to read the certificates of all authorities, to speak to loopback without them; and each run
    looks at some 2,500 files of packages, twice or more."""
    ssl.create_default_context = cache(ssl.create_default_context)
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
    installed_packages.signature = _signature


def read_now() -> None:
    """For processes that are forked off this one."""
    installed_packages._listed(installed_packages._imported())
    for pack in ("evals.triage.pack", "evals.target.pack"):
        scorers_digest(load_pack(pack))


def _signature(path: str) -> installed_packages.Signature:
    return (_remembered if str(path).startswith(SITE) else _asked)(path)
