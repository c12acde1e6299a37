"""What a secret looks like: formats that are published, places that name one, addresses, and randomness.

The most particular rule has the word. A rule is searched only where one of its hints stands in the text, so that a rule
more costs next to nothing. Randomness and addresses have rules of their own at the end: they ask for more.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from triage.secrecy.formats import FORMATS
from triage.secrecy.held import held_in
from triage.secrecy.meant import meanings
from triage.secrecy.names import PLACES
from triage.secrecy.rule import Match, Rule, changes

EMAIL: Final = "email"
HELD: Final = "key_in_use"
HIGH_ENTROPY: Final = "high_entropy"
SHORTEST: Final = 10
"""No secret is shorter, name and all, but for those with an "@" in them."""
RULES: Final = (*FORMATS, *PLACES)


@dataclass(frozen=True)
class Sighting:
    """A secret in a text: which rule saw it, at which offset, and what it is (never to be shown)."""

    rule: str
    start: int
    secret: str


_HINTS: Final = tuple((hint, place) for place, rule in enumerate(RULES) for hint in rule.hints)

_EMAIL: Final = re.compile(
    r"(?:(?<![\w.+-])[\w.+-]+|\"[^\"\s@\\][^\"\n@\\]{0,60}\\*\")@((?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,})"
)
_NOBODYS_DOMAIN: Final = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|org|net)|[^.]*\.?(?:invalid|test|example|localhost))", re.IGNORECASE
)
_SERVICE_ACCOUNTS: Final = ("git@",)  # `git@github.com:…` is how a clone URL is spelled, nobody's address
_LONG_WORD: Final = re.compile(rf"\S{{{SHORTEST},}}")
_TOKEN: Final = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
_KINDS: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_PUBLIC_TOKEN: Final = re.compile(r"(?:chatcmpl|call|req|fp|resp|msg|toolu|run|sha256|sha384|sha512)[-_]")


def known_formats(text: str) -> Iterator[Sighting]:
    """Every key that is in use, and every secret of a published format."""
    yield from _held(text)
    if _fits_a_format("\n".join(set(text.split("\n"))), [text]):
        yield from _published(text)


def _held(text: str) -> tuple[Sighting, ...]:
    return tuple(Sighting(HELD, start, spelling) for start, spelling in held_in(text))


def _published(text: str) -> Iterator[Sighting]:
    """The most particular rule's word for each stretch of text."""
    taken: list[tuple[int, int]] = []
    for place in sorted({place for hint, place in _HINTS if hint in text}):
        rule = RULES[place]
        for match in rule.matches(text):
            group = match.lastindex or 0
            start, end = match.start(), max(match.end(), match.end(group))  # what is looked ahead at counts as well
            if not _overlap(start, end, taken):
                taken.append((start, end))
                yield Sighting(rule.name, match.start(group), match.group(group))


def secrets_in(text: str) -> tuple[Sighting, ...]:
    """Every secret: a key in use, the known formats, somebody's address, and what is too random to be a name.

    Looked for in the text as it is, and in all else it can be read as.
    """
    if len(text) < SHORTEST and "@" not in text:
        return _held(text)
    return tuple(found for meant in (text, *_meanings(text)) for found in (*_held(meant), *_seen(meant)))


@lru_cache(maxsize=2048)
def _meanings(text: str) -> tuple[str, ...]:
    return tuple(meanings(text))


def none_in(texts: Collection[str]) -> bool:
    """Whether all of these texts are free of secrets, as `secrets_in` sees them; doubt counts as no.

    Lines that recur are looked at once, and so are their long words, in which formats and randomness stand; a rule that
    may depend on more than one line is searched in whole texts.
    """
    distinct = {line for text in texts for line in text.split("\n")}
    lines = "\n".join(distinct.union(*map(meanings, distinct)))
    if _held(lines) or any(_is_random(match.group()) for match in _TOKEN.finditer(_long_words(lines))):
        return False
    if "@" in lines and any(_is_somebody(match) for match in _EMAIL.finditer(lines)):
        return False
    return not _fits_a_format(lines, texts)


def _fits_a_format(lines: str, texts: Collection[str]) -> bool:
    """Whether a published format or a place that names a secret may be in the texts, whose distinct lines are given."""
    words = _long_words(lines)
    if any(_fires(rule, words) for rule in FORMATS) or any(_fires(rule, lines) for rule in PLACES if not rule.spans):
        return True
    return any(_fires(rule, text) for rule in PLACES if rule.spans and _hinted(rule, lines) for text in texts)


def _long_words(lines: str) -> str:
    return "\n".join(set(_LONG_WORD.findall(lines)))


def _fires(rule: Rule, text: str) -> bool:
    return _hinted(rule, text) and any(rule.matches(text))


def _hinted(rule: Rule, text: str) -> bool:
    return any(hint in text for hint in rule.hints)


@lru_cache(maxsize=2048)
def _seen(text: str) -> tuple[Sighting, ...]:
    """Remembered, since the requests of a cassette repeat their prompts and schemas."""
    seen = list(_published(text))
    taken = [(sighting.start, sighting.start + len(sighting.secret)) for sighting in seen]
    if "@" in text:
        people = [
            match for match in _EMAIL.finditer(text) if _is_somebody(match) and not _overlap(*match.span(), taken)
        ]
        taken += [match.span() for match in people]
        seen += [Sighting(EMAIL, match.start(), match.group()) for match in people]
    random = (
        match for match in _TOKEN.finditer(text) if _is_random(match.group()) and not _overlap(*match.span(), taken)
    )
    return (*seen, *(Sighting(HIGH_ENTROPY, match.start(), match.group()) for match in random))


def _overlap(start: int, end: int, taken: list[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in taken)


def _is_somebody(match: Match) -> bool:
    return not (_NOBODYS_DOMAIN.fullmatch(match.group(1)) or match.group().startswith(_SERVICE_ACCOUNTS))


def _is_random(token: str) -> bool:
    """Random base-62/64 text changes between lower, upper and digit at 62 % of its steps, a name at about 30 %.

    Hex digests and UUIDs have no mixed case and pass; so do the public id prefixes of the protocols.
    """
    if _PUBLIC_TOKEN.match(token):
        return False
    if not all(kind.search(token) for kind in _KINDS) or len(set(token)) < 12:
        return False
    changed, steps = changes(token)
    return changed >= 0.4 * steps
