"""Secret filter: cassettes that hold a secret are refused, other outputs are redacted, reviewed exceptions pass."""

import datetime as dt
import hashlib
import json
import mmap
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, Field, ValidationError, model_validator

from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_schema import CassetteEntry, line_of
from evals.cassettes.package_line_references import SourceTree, tree_for
from evals.cassettes.request_key import REDACTED_MEMBERS, parse_json
from evals.errors import ConfigurationError, SecretFoundError
from evals.models.base import Closed, Sealed
from evals.shared.secrets.named_secrets import is_named
from evals.shared.secrets.scanner import HELD, HIGH_ENTROPY, NAMES, Sighting, known_formats, none_in, secrets_in

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


CHAT_MEMBERS: Final = frozenset(
    {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"}
)
SEARCH_MEMBERS: Final = frozenset(
    {"query", "follow_up_questions", "answer", "images", "results", "response_time", "auto_parameters"}
)
WITHHELD: Final = "[withheld: it holds a secret]"
_PROTOCOL_ID: Final = re.compile(
    r"\.(?:tool_calls\[\d+\]\.id|tool_call_id"  # OpenAI's chat completions
    r"|tool_use_id|content\[\d+\]\.(?:id|signature)|content_block\.id|delta\.signature"  # Anthropic's messages
    r"|call_id|item_id|(?:input|output)\[\d+\]\.id|encrypted_content"  # OpenAI's responses
    r"|thought_?[sS]ignature|responseId)$"  # Gemini
)
"""Members that are random by design and secret to nobody."""
_NAME: Final = re.compile(r'"([^"\\]{1,64})"\s*:\s*"')
"""The name of a member that is a text."""
_SPELLED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
"""Every text in a JSON text, names included, as it is spelled there."""


@dataclass(frozen=True)
class SecretFinding:
    """Which rule fired and where (`$.messages[0].content`); never what it saw, but for its digest."""

    rule: str
    json_path: str
    sha256: str = field(default="", compare=False)


def redact_request(body: Mapping[str, object]) -> dict[str, object]:
    """The request body as it is stored and keyed."""
    return {name: member for name, member in body.items() if name not in REDACTED_MEMBERS}


def redact_response(path: str, body: Mapping[str, object]) -> dict[str, object]:
    """The answer's body as it is stored and served; an unknown protocol's answer is kept whole."""
    allowed = _members_allowed(path)
    return {name: member for name, member in body.items() if allowed is None or name in allowed}


def scan(value: object, path: str = "$", allowed: AllowedSecrets = NOTHING) -> list[SecretFinding]:
    """Every place in a JSON value (keys included) where something looks like a secret that nobody answers for."""
    found = (
        SecretFinding(sighting.rule, where, digest_of(sighting.secret))
        for where, sighting in sightings(value, path)
        if not allowed.allows(sighting)
    )
    return list(dict.fromkeys(found))


def scan_text(text: str, allowed: AllowedSecrets = NOTHING) -> Iterator[tuple[str, int]]:
    """Rule and offset of every known key format in a file's raw text, comments and headers included."""
    return ((found.rule, found.start) for found in known_formats(text) if not allowed.allows(found))


def sightings(value: object, path: str = "$") -> Iterator[tuple[str, Sighting]]:
    """Everything in a JSON value that looks like a secret, allowed or not, with its JSON path."""
    for where, text in _strings(value, path):
        for sighting in secrets_in(text):
            if not (sighting.rule == HIGH_ENTROPY and _PROTOCOL_ID.search(where)):
                yield where, sighting


def unsuspicious(bodies: Collection[str], words: Iterable[str]) -> bool:
    """Whether nothing in these JSON texts and words looks like a secret; a text they share is looked at once.

    A quick look only: where it says no, `scan` finds out what it is and where, and may find that it is nothing.
    """
    spelled = {text for body in bodies for text in _SPELLED.findall(body)}
    texts = {*json.loads(f"[{','.join(spelled)}]"), *words}
    texts |= {text for body in bodies for text in _named_members(body)}
    hidden = {text for outer in texts if _hides_words(outer) for _, text in _strings(outer, "")}
    return none_in(texts | hidden)


def scrub(text: str) -> str:
    """The text fit to be shown in an error: emptied as a whole if anything in it looks like a secret."""
    return WITHHELD if _holds_a_secret(text) else text


def _members_allowed(path: str) -> frozenset[str] | None:
    if path.endswith("/chat/completions"):
        return CHAT_MEMBERS
    return SEARCH_MEMBERS if path.endswith("/search") else None


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
        if _hides_words(value):
            with suppress(ValueError):
                yield from ((path, text) for _, text in _strings(parse_json(value), path))
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield path, str(name)
            yield from _strings(member, _below(path, str(name)))
            if isinstance(member, str) and is_named(str(name)):
                yield _below(path, str(name)), f"{name}={member}"
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _strings(item, f"{path}[{index}]")


def _named_members(body: str) -> Iterator[str]:
    """The members of a JSON text whose name says that they hold a secret, as `_strings` puts them."""
    for name in filter(is_named, set(_NAME.findall(body))):
        for value in re.findall(rf'"{re.escape(name)}"\s*:\s*({_SPELLED.pattern})', body):
            yield f"{name}={json.loads(value)}"


def _hides_words(text: str) -> bool:
    """JSON inside a text, whose escapes would hide what it says."""
    return text[:1] in {"{", "["} and ("\\/" in text or "\\u" in text)


def _below(path: str, name: str) -> str:
    """The path one member deeper; a name that is itself a secret is not repeated."""
    return f"{path}.{name}" if name.isidentifier() and not _holds_a_secret(name) else f"{path}.*"


def _holds_a_secret(text: str) -> bool:
    return bool(secrets_in(text))


def refuse_planted(path: Path, text: str, allowed: AllowedSecrets) -> None:
    """Before anything else is said of a file: a key anywhere in it, even in a comment, must not stay there."""
    for rule, offset in scan_text(text, allowed):
        line = text.count("\n", 0, offset) + 1
        raise SecretFoundError(path, f"{rule}: a secret must not stand here; revoke it, and restore the file", line)


def refuse_recorded(
    path: Path,
    text: str,
    entries: Sequence[CassetteEntry],
    interactions: Sequence[Interaction],
    allowed: AllowedSecrets,
    tree: SourceTree | None = None,
) -> None:
    """One quick look at all texts together, since they say the same again and again; then one at each, if need be."""
    if _unsuspicious(entries, interactions):
        return
    for index, (entry, interaction) in enumerate(zip(entries, interactions, strict=True)):
        if not _unsuspicious([entry], [interaction]):
            refuse_secrets(path, interaction, allowed, (text, index), tree)


def _unsuspicious(entries: Iterable[CassetteEntry], interactions: Iterable[Interaction]) -> bool:
    bodies = [body for entry in entries for body in (entry.request.body, entry.response.body.string)]
    return unsuspicious(bodies, {word for found in interactions for word in _words(found)})


def refuse_secrets(
    path: Path,
    interaction: Interaction,
    allowed: AllowedSecrets,
    where: tuple[str, int] | None = None,
    tree: SourceTree | None = None,
) -> None:
    """Raises SecretFoundError if an interaction must not be kept; `where` is the file's text and its place there. The
    lines of a released `tree` are published, and are not kept."""
    found = [finding for part, name in _parts(interaction, tree) for finding in scan(part, name, allowed)]
    line = line_of(where[0], ("interactions", where[1])) if found and where else None
    _refuse(path, found, interaction.agent, line)


def refuse_secret_request(
    path: Path, uri: str, agent: str, model: str, body: Mapping[str, Any], tree: SourceTree | None = None
) -> None:
    """Raises SecretFoundError if a request must not be kept: better said before it is sent and paid for."""
    allowed = allowed_beside(path)
    body = body if tree is None else tree.folded(body)
    meta = _meta(uri, agent=agent, model=model)
    _refuse(path, [*scan(body, "request", allowed), *scan(meta, "x_meta", allowed)], agent)


def seen_in(cassette: Cassette) -> Iterator[Sighting]:
    """Everything in a cassette that looks like a secret, allowed or not: what an allow-list is needed for."""
    tree = tree_for(cassette.path, cassette.tree) if cassette.tree else None
    for interaction in cassette.interactions:
        for part, name in _parts(interaction, tree):
            yield from (sighting for _, sighting in sightings(part, name))


def _parts(interaction: Interaction, tree: SourceTree | None = None) -> tuple[tuple[object, str], ...]:
    """All that is written of an interaction, with its JSON path, but for digests and numbers."""
    words = {"method", "agent", "model", "content_type", "recorded_by", "recorded_at"}
    meta = _meta(interaction.uri, **interaction.model_dump(include=words))
    request = interaction.request if tree is None else tree.folded(interaction.request)
    return (request, "request"), (interaction.response, "response"), (meta, "x_meta")


def _words(interaction: Interaction) -> Iterator[str]:
    """What is written of an interaction besides its bodies."""
    yield from (interaction.uri, unquote(interaction.uri), interaction.method, interaction.agent, interaction.model)
    yield from (interaction.content_type, interaction.recorded_by or "", interaction.recorded_at)


def _meta(uri: str, **words: str | None) -> dict[str, object]:
    """The URI is read as it is written and as it is meant (`%40` is an @)."""
    return {"uri": [uri, unquote(uri)], **words}


def _refuse(path: Path, findings: Sequence[SecretFinding], agent: str, line: int | None = None) -> None:
    for found in findings[:1]:
        advice = "the key in use goes into no cassette; name an endpoint that does not repeat it"
        if found.rule != HELD:
            allow = f"allow sha256 {found.sha256} in cassettes/{FILE}"
            advice = f"remove it at its source, or, if it is no secret, {allow}"
        message = f"{found.rule} at {found.json_path} of a request by {scrub(agent)}: {advice}"
        raise SecretFoundError(path, message, line)


Told = TypeVar("Told", bound=BaseModel)
BLOCK: Final = 1 << 24
"""Characters."""


def held_back(told: Told, path: Path) -> Told:
    """The same with every text withheld that a cassette beside `path` would refuse."""
    if isinstance(told, Sealed) and all(unsuspicious(block, []) for block in _blocks(told.pieces())):
        return told
    text = told.model_dump_json(by_alias=True)
    clean = fit_to_write(text, allowed_beside(path))
    return told if clean == text else type(told).model_validate_json(clean)


def _blocks(pieces: Iterable[str]) -> Iterator[list[str]]:
    """Some megabytes of text at a time: a text that many trials share is looked at once a block."""
    block, size = [], 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size > BLOCK:
            yield block
            block, size = [], 0
    yield block


def withheld_in(path: Path) -> int:
    """How many texts of a written file are withheld."""
    with path.open("rb") as stored, mmap.mmap(stored.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return len(re.findall(re.escape(WITHHELD.encode()), text))


def fit_to_write(text: str, allowed: AllowedSecrets) -> str:
    """The JSON text with every text in it withheld that holds a secret nobody answers for; mostly as it is."""
    if unsuspicious([text], []):
        return text
    value = json.loads(text)
    fit = _fit(value, allowed)
    return text if fit == value else json.dumps(fit, ensure_ascii=False)


def _fit(value: object, allowed: AllowedSecrets) -> object:
    if isinstance(value, str):
        return WITHHELD if scan(value, allowed=allowed) else value
    if isinstance(value, dict):
        return {str(_fit(name, allowed)): _fit_member(name, member, allowed) for name, member in value.items()}
    return [_fit(each, allowed) for each in value] if isinstance(value, list) else value


def _fit_member(name: str, member: object, allowed: AllowedSecrets) -> object:
    """What a password is called may be said, what it is may not."""
    if isinstance(member, str) and is_named(name) and scan({name: member}, allowed=allowed):
        return WITHHELD
    return _fit(member, allowed)
