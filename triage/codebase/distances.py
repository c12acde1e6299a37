"""What a query measured to the chunks it was compared with, kept: a ranking without the model, and the same everywhere.

Between kinds of CPU the last bits of a vector differ, and with them, rarely, a rank. A repository with four hundred
candidates for each query has more vectors than anybody wants to commit; but of those a ranking uses the distance to the
query alone, rounded to four decimals: two bytes a candidate.
"""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triage.codebase.embed import MODEL_ID, alone_in

_PER_UNIT: Final = 10_000
"""Distances are rounded to four decimals, and lie between 0 and 2."""
Measured = NDArray[np.uint16]


class Distances:
    """Rounded cosine distances by query and candidates, in one `.npz` file; the same content is the same bytes."""

    def __init__(self, path: Path | None = None) -> None:
        self.new = 0
        """How many were put in since the last save."""
        self._path = path
        self._known = {} if path is None else _stored(path)

    def get(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """The distance of each text to the query, in their order, if it was measured."""
        found = self._known.get(_key(query, texts))
        return None if found is None or len(found) != len(texts) else [int(each) / _PER_UNIT for each in found]

    def put(self, query: str, texts: Sequence[str], distances: Sequence[float]) -> None:
        """Remember what was measured; it reaches the file with `save`."""
        self._known[_key(query, texts)] = np.array([round(each * _PER_UNIT) for each in distances], dtype=np.uint16)
        self.new += 1

    def save(self) -> None:
        """Write all, by key, to where they came from; what another process has written there meanwhile stays.

        Raises:
            ValueError: they live in memory only.
        """
        if self._path is None:
            raise ValueError("these distances live in memory: give the path of a .npz file")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(self._path.parent):
            self._known = _stored(self._path) | self._known
            self._write(self._path)
        self.new = 0

    def _write(self, target: Path) -> None:
        keys = sorted(self._known)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".distances-") as beside:  # goes, whatever happens
            whole = Path(beside) / target.name
            np.savez(
                whole,
                keys=np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), 32),
                counts=np.array([len(self._known[key]) for key in keys], dtype=np.uint16),
                distances=np.concatenate([self._known[key] for key in keys] or [np.array([], dtype=np.uint16)]),
            )
            whole.replace(target)


def _stored(path: Path) -> dict[bytes, Measured]:
    if not path.is_file():
        return {}
    with np.load(path, allow_pickle=False) as stored:
        ends = np.cumsum(stored["counts"], dtype=np.int64)
        rows = np.split(stored["distances"], ends[:-1]) if len(ends) else []
        return dict(zip(map(bytes, stored["keys"]), rows, strict=True))


def _key(query: str, texts: Sequence[str]) -> bytes:
    """Of the model, the query, and the candidates in their order."""
    digest = hashlib.sha256(f"{MODEL_ID}\0".encode())
    for text in (query, *texts):
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()
