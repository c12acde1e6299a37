"""Reviewed exceptions: strings that look like secrets and are none (`cassettes/allowed-secrets.toml`)."""

import datetime as dt
import hashlib
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, ValidationError, model_validator

from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.shared.secrets.scanner import NAMES, Sighting

FILE: Final = "allowed-secrets.toml"


class AllowedSecret(Closed):
    """One string, by digest, that one rule may see. `why` and `who` answer for it."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rule: str
    why: Annotated[str, Field(min_length=1)]
    who: Annotated[str, Field(min_length=1)]
    date: dt.date

    @model_validator(mode="after")
    def _the_rule_exists(self) -> Self:
        if self.rule not in NAMES:
            raise ValueError(f"there is no rule {self.rule!r}")
        return self


class AllowedSecrets(Closed):
    """All that was allowed; nothing, where there is no file."""

    allowed: tuple[AllowedSecret, ...] = ()

    def allows(self, sighting: Sighting) -> bool:
        """Whether somebody answers for this very string under this very rule."""
        if not self.allowed:
            return False
        name = (digest_of(sighting.secret), sighting.rule)
        return any((entry.sha256, entry.rule) == name for entry in self.allowed)

    def stale(self, seen: Iterable[Sighting]) -> tuple[AllowedSecret, ...]:
        """The entries that allow nothing which was seen: they would let something in that nobody has looked at."""
        used = {(digest_of(sighting.secret), sighting.rule) for sighting in seen}
        return tuple(entry for entry in self.allowed if (entry.sha256, entry.rule) not in used)


NOTHING: Final = AllowedSecrets()


def digest_of(secret: str) -> str:
    """Sha256 (hex) of a secret, as the file names it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def allowed_beside(cassette: Path) -> AllowedSecrets:
    """What is allowed in a cassette: the file in the nearest `cassettes` folder on the way up, if there is one.

    Raises:
        ConfigurationError: there is one, and it is wrong.
    """
    for folder in cassette.absolute().parents:
        if (folder / "cassettes").is_dir():
            return read_allowed(folder / "cassettes" / FILE)
    return NOTHING


def read_allowed(path: Path) -> AllowedSecrets:
    """The file's entries, none if there is no file.

    Raises:
        ConfigurationError: the file is wrong.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        return NOTHING
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, _modified_ns: int, _size: int) -> AllowedSecrets:
    """Once per version of the file: a suite loads a cassette per case."""
    try:
        return AllowedSecrets.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not TOML ({error}); see docs/recording.md for its form") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigurationError(f"{path}: {where}: {first['msg']}; see docs/recording.md for its form") from None
