"""Templates compiled once, not once a process: that takes a fifth of a second, as long as to fill a small report."""

import sys
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from evals.kept import Kept, digest_of


class Compiled(jinja2.BytecodeCache):
    """What Jinja makes of templates, in a folder.

    An entry follows from the template, from Jinja and from `rests_on`: the source of whoever says how to compile. A
    damaged one is none, and so is one that cannot be written.
    """

    def __init__(self, folder: Path, rests_on: bytes) -> None:
        self._kept = Kept(folder)
        self._rests_on = rests_on

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket with what was compiled before."""
        if (code := self._kept.get(self._name(bucket))) is not None:
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled now, where Python may keep its own bytecode."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                self._kept.put(self._name(bucket), bucket.bytecode_to_string())

    def _name(self, bucket: Bucket) -> str:
        versions = f"{sys.implementation.cache_tag} {jinja2.__version__}"
        return digest_of(self._rests_on, *(each.encode() for each in (versions, bucket.key, bucket.checksum)))
