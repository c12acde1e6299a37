"""What follows from content, kept by content: whole and unharmed, or not at all.

An entry begins with the digest of its name and all the rest: one flipped bit, and it is none. A digest is no signature:
whoever can write here can also edit the code beside it.
"""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Kept:
    """The entries below a folder, by name; a name is the digest of everything its entry follows from."""

    folder: Path

    def get(self, name: str) -> bytes | None:
        """The entry of that name, if there is a sound one."""
        try:
            stored, _, content = self._path(name).read_bytes().partition(b"\n")
        except OSError:
            return None
        return content if stored == _seal(name, content) else None

    def put(self, name: str, content: bytes) -> None:
        """Keep an entry; readers see all of it or nothing. Where nothing can be written, it is made again next time."""
        path = self._path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as scratch:
                scratch.write(_seal(name, content) + b"\n" + content)
            Path(scratch.name).replace(path)
        except OSError:
            return

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name


def digest_of(*parts: bytes) -> str:
    """One digest (sha256, hex) over parts of any length, in order."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _seal(name: str, content: bytes) -> bytes:
    return digest_of(name.encode(), content).encode()
