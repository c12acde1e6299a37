"""The code behind what is kept, as a digest: what other code found is not what this code would find."""

from functools import cache
from pathlib import Path
from typing import Final

from evals.kept import digest_of
from evals.libraries import package_digest
from evals.modules import digest_of_code
from evals.package import PACKAGE

_LIBRARIES: Final = ("pydantic", "pydantic_core", "yaml", "bm25s")


@cache
def code_digest(*patterns: str) -> bytes:
    """Of the files that match one of the patterns, relative to `evals`."""
    files = sorted(file for pattern in patterns for file in PACKAGE.glob(pattern))
    return digest_of(*(digest_of_code(file).encode() for file in files)).encode()


def libraries_digest(cache: Path) -> bytes:
    """Of the installed packages that checks of a dataset use."""
    return package_digest(cache, *_LIBRARIES).encode()
