"""What a cassette's very bytes were read as once, by this very code, need not be read out of its YAML again before each
replay, nor verified again.

A kept reading is named by the cassette's bytes, the exceptions allowed beside it, and the code that reads; it begins
with the digest of its name and the rest. A damaged one is none. Whoever can make one up can also write `.cache/trials`,
or edit the code beside it: `evals cassette verify` and `EVALS_PLAIN_REPLAY=1` know neither.
"""

import hashlib
import platform
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.interaction import Interaction

FOLDER: Final = "read"
_LIBRARIES: Final = ("pydantic", "pyyaml")
_LEVEL: Final = 1
"""Of compression: requests repeat each other, and a tenth of the size takes less time to read than to write whole."""
_INTERACTIONS: Final = TypeAdapter(tuple[Interaction, ...])


@dataclass(frozen=True)
class Readings:
    """The kept readings in a folder."""

    folder: Path

    def get(self, content: bytes, allowed: AllowedSecrets) -> tuple[Interaction, ...] | None:
        """What a file of these bytes holds, if that was kept and is sound."""
        name = _name(content, allowed)
        try:
            stored, _, packed = (self.folder / name).read_bytes().partition(b"\n")
            return _INTERACTIONS.validate_json(zlib.decompress(packed)) if stored == _seal(name, packed) else None
        except (OSError, zlib.error, ValidationError):
            return None

    def put(self, content: bytes, allowed: AllowedSecrets, found: Sequence[Interaction]) -> None:
        """Keep what was read and verified just now; where nothing can be written, it is read again next time."""
        name = _name(content, allowed)
        try:
            packed = zlib.compress(_INTERACTIONS.dump_json(tuple(found)), _LEVEL)
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as scratch:
                scratch.write(_seal(name, packed) + b"\n" + packed)
            Path(scratch.name).replace(self.folder / name)
        except (OSError, PydanticSerializationError):  # the latter: half a character, which JSON can spell
            return


def _name(content: bytes, allowed: AllowedSecrets) -> str:
    return _sha256(content, allowed.model_dump_json().encode(), _reader())


def _seal(name: str, packed: bytes) -> bytes:
    return _sha256(name.encode(), packed).encode()


@cache
def _reader() -> bytes:
    """The code that reads and verifies: this package, what it stands on, and the libraries that read for it."""
    here = Path(__file__).parent
    files = [*sorted(here.glob("*.py")), here.parent / "errors.py", here.parent / "models" / "closed.py"]
    libraries = [platform.python_version(), *map(version, _LIBRARIES)]
    return _sha256(*(path.read_bytes() for path in files), *(text.encode() for text in libraries)).encode()


def _sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
