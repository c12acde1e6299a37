"""Content-addressed cache on disk: values stored under the digest of what they depend on."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4


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

    def has(self, name: str) -> bool:
        """Whether there is an entry of that name, sound or not."""
        return self._path(name).exists()

    def put(self, name: str, content: bytes) -> None:
        """Keep an entry; readers see all of it or nothing. Raises OSError that names the file: of a full disk the
        system does not say which one it was."""
        path = self._path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_name(uuid4().hex)
            try:
                whole.write_bytes(_seal(name, content) + b"\n" + content)
                whole.replace(path)
            except BaseException:
                whole.unlink(missing_ok=True)  # also on a full disk
                raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name


def digest_of(*parts: bytes) -> str:
    """One digest (sha256, hex) over parts of any length, in order."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def digest_of_sha256(sha256: str) -> str:
    """`digest_of` one part of which only the sha256 (hex) is known."""
    return hashlib.sha256(bytes.fromhex(sha256)).hexdigest()


def _seal(name: str, content: bytes) -> bytes:
    return digest_of(name.encode(), content).encode()
