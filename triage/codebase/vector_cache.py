"""Cache of embedding vectors by content."""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from triage.codebase.embed import DIMENSIONS, Vectors, key_of
from triage.private_files import make_private

VARIABLE: Final = "TRIAGE_CACHE_DIR"
_WAIT_S: Final = 30
"""How long another process may be writing."""
_TABLE: Final = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB, crc INTEGER) WITHOUT ROWID"


def cache_folder() -> Path:
    """Where the cache is: TRIAGE_CACHE_DIR, else the platform's place for caches (XDG_CACHE_HOME is respected)."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else user_cache_path("triage-evals", appauthor=False)


def private(folder: Path) -> Path:
    """The folder, made if need be, for nobody else's eyes: what is kept tells of the code."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class SharedVectors:
    """Vectors by digest of model and text, in the file at `path`. `complain` hears why nothing can be kept."""

    def __init__(self, path: Path, complain: Callable[[str], None]) -> None:
        self._path = path
        self._complain = complain
        self._db = self._opened()

    def get(self, text: str) -> Vectors | None:
        """The vector of `text`, shape (DIMENSIONS,), if it is known."""
        rows = self._rows("SELECT vector, crc FROM vectors WHERE key = ?", key_of(text))
        return _whole(*rows[0]) if rows else None

    def put(self, text: str, vector: Vectors) -> None:
        """Keep a vector. A process killed meanwhile leaves the file as it was, or with the vector in it."""
        raw = vector.tobytes()
        self._rows("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", key_of(text), raw, zlib.crc32(raw))

    def _rows(self, command: str, *values: bytes | int) -> list[tuple[bytes, int]]:
        try:
            return self._db.execute(command, values).fetchall()
        except sqlite3.OperationalError as error:  # the disk is full, or somebody writes for ever
            self._db = self._nowhere(error)
        except sqlite3.DatabaseError:
            self._db = self._anew()
        return self._db.execute(command, values).fetchall()

    def _opened(self) -> sqlite3.Connection:
        try:
            private(self._path.parent)
            make_private(self._path)
            return _connected(self._path)
        except (OSError, sqlite3.OperationalError) as error:
            return self._nowhere(error)
        except sqlite3.DatabaseError:
            return self._anew()

    def _anew(self) -> sqlite3.Connection:
        """The file is damaged: nothing in it is worth a repair."""
        self._path.unlink(missing_ok=True)
        make_private(self._path)
        return _connected(self._path)

    def _nowhere(self, error: Exception) -> sqlite3.Connection:
        self._complain(f"{self._path}: no vectors can be kept there ({error}); name another folder in {VARIABLE}")
        return _connected(":memory:")


def _connected(path: Path | str) -> sqlite3.Connection:
    """Threads take turns with it. Nothing waits for the disk: what a power cut damages is computed anew."""
    found = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
    found.execute("PRAGMA synchronous = OFF")
    found.execute(_TABLE)
    return found


def _whole(raw: object, crc: object) -> Vectors | None:
    """The vector, unless its bytes are not the ones that were kept."""
    if not isinstance(raw, bytes) or len(raw) != DIMENSIONS * 2 or zlib.crc32(raw) != crc:
        return None
    return np.frombuffer(raw, dtype=np.float16)


Packed = NDArray[np.uint8]


def packed(texts: Iterable[str]) -> Packed:
    """The texts, none of which may hold a NUL, in one array of shape (bytes,)."""
    return np.frombuffer("\0".join(texts).encode(), dtype=np.uint8)


def unpacked(array: Packed) -> list[str]:
    """The texts in the array; of no text at all, one empty one."""
    return array.tobytes().decode().split("\0")
