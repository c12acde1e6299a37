"""The code behind what is kept, as a digest: what other code found is not what this code would find."""

from functools import cache

from evals.kept import digest_of
from evals.package import PACKAGE


@cache
def code_digest(*patterns: str) -> bytes:
    """Of the files that match one of the patterns, relative to `evals`."""
    files = sorted(file for pattern in patterns for file in PACKAGE.glob(pattern))
    return digest_of(*(file.read_bytes() for file in files)).encode()
