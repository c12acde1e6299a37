"""What was verified once, for these very bytes by this very code, need not be verified again before each replay.

A seal says that and nothing else: what a replay hears is read from the cassette each time, and its count, pieces and
digests of answers are looked at each time. Under a seal no key is computed again and no text scanned for secrets. Its
name and its content follow from the cassette's bytes, the exceptions allowed beside it, and the code that verifies; a
damaged one is none.
"""

import hashlib
import platform
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from evals.cassette.allowed_secrets import AllowedSecrets
from secrecy import held

FOLDER: Final = "read"
_LIBRARIES: Final = ("pydantic", "pyyaml")


@dataclass(frozen=True)
class Seals:
    """The seals in a folder."""

    folder: Path

    def hold(self, content: bytes, allowed: AllowedSecrets) -> bool:
        """Whether a file of these bytes was verified, with these exceptions."""
        name = _name(content, allowed)
        try:
            return (self.folder / name).read_bytes() == _note(name)
        except OSError:
            return False

    def put(self, content: bytes, allowed: AllowedSecrets) -> None:
        """Seal a file that was verified just now; where nothing can be written, it is verified again next time."""
        name = _name(content, allowed)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as scratch:
                scratch.write(_note(name))
            Path(scratch.name).replace(self.folder / name)
        except OSError:
            return


def _name(content: bytes, allowed: AllowedSecrets) -> str:
    return _sha256(content, allowed.model_dump_json().encode(), _verifier())


def _note(name: str) -> bytes:
    return f"verified {_sha256(name.encode(), _verifier())}\n".encode()


@cache
def _verifier() -> bytes:
    """The code that verifies: this package, what it stands on, and the libraries that read for it."""
    here = Path(__file__).parent
    secrecy = Path(held.__file__).parent
    files = [
        *sorted(here.glob("*.py")),
        *sorted(secrecy.glob("*.py")),
        here.parent / "errors.py",
        here.parent / "models" / "closed.py",
    ]
    libraries = [platform.python_version(), *map(version, _LIBRARIES)]
    return _sha256(*(path.read_bytes() for path in files), *(text.encode() for text in libraries)).encode()


def _sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
