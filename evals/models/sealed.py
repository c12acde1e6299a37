"""A file that knows its own digest: what was damaged, cut or edited by hand since it was written says so.

A digest is no signature. Whoever edits a file and its digest together is not found out; git and review are for that.
"""

import hashlib
from typing import Self

from evals.models.closed import Closed


class Sealed(Closed):
    """A model that is written with the digest of its content (sha256, hex); empty where it was not written yet."""

    content_sha256: str = ""

    def sealed(self) -> Self:
        """The same with its digest."""
        return self.model_copy(update={"content_sha256": self._digest()})

    @property
    def intact(self) -> bool:
        """Whether the digest is that of the content."""
        return self.content_sha256 == self._digest()

    def _digest(self) -> str:
        return hashlib.sha256(self.model_dump_json(by_alias=True, exclude={"content_sha256"}).encode()).hexdigest()
