"""What a cassette's very bytes were read as once, by this very code, need not be read out of its YAML again before each
replay, nor verified again.

A kept reading is named by the cassette's bytes, the exceptions allowed beside it, the code that reads, the packages it
reads with, and whether the manifest lists them, as those are not scanned. `evals cassette verify` and
`EVALS_PLAIN_REPLAY=1` know of none.
"""

import platform
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.interaction import Interaction
from evals.kept import Kept, digest_of
from evals.libraries import package_digest
from evals.modules import digest_of_code
from triage.secrecy import held

FOLDER: Final = "read"
_LIBRARIES: Final = ("pydantic", "pydantic_core", "yaml")
_LEVEL: Final = 1
"""Of compression: requests repeat each other, and a tenth of the size takes less time to read than to write whole."""
_INTERACTIONS: Final = TypeAdapter(tuple[Interaction, ...])


@dataclass(frozen=True)
class Readings:
    """The kept readings in a folder."""

    folder: Path

    def get(self, content: bytes, allowed: AllowedSecrets, *, listed: bool = False) -> tuple[Interaction, ...] | None:
        """What a file of these bytes holds, if that was kept and is sound; one that is `listed` may have been scanned
        all the same, before it was."""
        kept, scanned = Kept(self.folder), self._name(content, allowed, listed=False)
        packed = (kept.get(self._name(content, allowed, listed=True)) if listed else None) or kept.get(scanned)
        try:
            return None if packed is None else _INTERACTIONS.validate_json(zlib.decompress(packed))
        except (zlib.error, ValidationError):
            return None

    def has(self, content: bytes, allowed: AllowedSecrets, *, listed: bool = False) -> bool:
        """Whether `get` has something to look at, sound or not."""
        names = {self._name(content, allowed, listed=either) for either in {listed, False}}
        return any(map(Kept(self.folder).has, names))

    def put(
        self, content: bytes, allowed: AllowedSecrets, found: Sequence[Interaction], *, listed: bool = False
    ) -> None:
        """Keep what was read and verified just now; where nothing can be written, it is read again next time."""
        try:
            packed = zlib.compress(_INTERACTIONS.dump_json(tuple(found)), _LEVEL)
        except PydanticSerializationError:  # half a character, which JSON can spell
            return
        with suppress(OSError):
            Kept(self.folder).put(self._name(content, allowed, listed=listed), packed)

    def _name(self, content: bytes, allowed: AllowedSecrets, *, listed: bool) -> str:
        """What was not scanned since the manifest lists it is no reading of the same bytes once they are not listed."""
        by = (_reader(), package_digest(self.folder.parent, *_LIBRARIES).encode())
        return digest_of(content, allowed.model_dump_json().encode(), *by, *([b"listed"] if listed else []))


@cache
def _reader() -> bytes:
    """The code that reads and verifies: this package, and what it stands on."""
    here, secrecy = Path(__file__).parent, Path(held.__file__).parent
    files = [
        *sorted(here.glob("*.py")),
        *sorted(secrecy.glob("*.py")),
        *(here.parent / name for name in ("errors.py", "kept.py", "models/closed.py")),
    ]
    return digest_of(*(digest_of_code(path).encode() for path in files), platform.python_version().encode()).encode()
