"""The secret scanner: `secrets_in(text)` gives every secret in a text, `none_in(texts)` is the quick look."""

import importlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Protocol

from evals.shared.secrets.decoding import joined_lines, line_meanings, meanings, text_of_base64
from evals.shared.secrets.key_formats import FORMATS
from evals.shared.secrets.named_secrets import NAMED, may_name_a_secret, named_in
from evals.shared.secrets.rule import Match, Rule, changes, held_in, is_holding, is_placeholder, secret_of
from evals.shared.secrets.secrets_by_place import PLACES
from evals.shared.secrets.value_shapes import (
    blobs_in,
    is_nobodys,
    is_token,
    without_blobs,
    without_numbers,
    without_public,
)

EMAIL: Final = "email"
HELD: Final = "key_in_use"
HIGH_ENTROPY: Final = "high_entropy"
SECOND_OPINION: Final = "second_opinion"
"""What the plug-ins of detect-secrets see, without any check over the network."""
SHORTEST: Final = 10
"""No secret is shorter, name and all, but for those with an "@" in them."""
RULES: Final = (*FORMATS, *PLACES, *NAMED)
NAMES: Final = frozenset({EMAIL, HELD, HIGH_ENTROPY, SECOND_OPINION, *(rule.name for rule in RULES)})
"""Of all rules."""


@dataclass(frozen=True)
class Sighting:
    """A secret in a text: which rule saw it, at which offset, and what it is (never to be shown)."""

    rule: str
    start: int
    secret: str


_HINTS: Final = tuple((hint, place) for place, rule in enumerate((*FORMATS, *PLACES)) for hint in rule.hints)

_EMAIL: Final = re.compile(
    r"(?:(?<![\w.+-])[\w.+-]+|\"[^\"\s@\\][^\"\n@\\]{0,60}\\*\")@((?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,})"
)
_LONG_WORD: Final = re.compile(rf"\S{{{SHORTEST},}}")
_TOKEN: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_KINDS: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_PUBLIC_TOKEN: Final = re.compile(
    r"(?:chatcmpl|call|req|fp|resp|msg|toolu|srvtoolu|run|evt|sha256|sha384|sha512|thread|asst|file|batch|price|cus|pi|prod|"
    r"sub|acct|job)[-_]"
)

_MOST_REMEMBERED: Final = 200_000
_clean: set[int] = set()
"""Hashes of lines and texts in which `none_in` found nothing: the trials of a case say the same again and again."""
_without_format: set[int] = set()
"""Hashes of lines in which `known_formats` found nothing by themselves: cassettes share prompts."""


def secrets_in(text: str, *, second: bool = True) -> tuple[Sighting, ...]:
    """Every secret in a text, as it is and in all else it can be read as. The entry for whoever writes or sends texts.

    A secret is a key in use, a key of a published format, what a place or a name gives away, somebody's mail address,
    and what is too random to be a name; with `second`, also what detect-secrets sees in the text as it is.
    """
    if len(text) < SHORTEST and "@" not in text:
        return _held(text)
    found = tuple(found for meant in (text, *_meanings(text)) for found in (*_held(meant), *_seen(meant)))
    if found or not second:
        return found
    return tuple(Sighting(SECOND_OPINION, start, secret) for start, secret in second_opinion(text))


def known_formats(text: str) -> Iterator[Sighting]:
    """Every key that is in use, and every secret that a published format, a place or a name gives away."""
    yield from _held(text)
    lines = [line for line in sorted(set(text.split("\n"))) if hash(line) not in _without_format]
    if _fits_a_rule(lines, []) or any(_fires(rule, text) for rule in PLACES if rule.spans):
        yield from _published(text)
        return
    if len(_without_format) > _MOST_REMEMBERED:
        _without_format.clear()
    _without_format.update(map(hash, lines))


def none_in(texts: Collection[str]) -> bool:
    """Whether all of these texts are free of secrets, as `secrets_in` sees them without a second opinion; doubt counts
    as no.

    Lines that recur are looked at once, and so are their long words, in which formats and randomness stand; a rule that
    may depend on more than one line is searched in whole texts.
    """
    known = set() if is_holding() else _clean  # a key that is held since may stand in what was clean before
    news = [text for text in texts if hash(text) not in known]
    distinct = {line for text in news for line in text.split("\n") if line}
    lines = {line for line in distinct if hash(line) not in known}
    joined = "\n".join(lines)
    if _held(joined):
        return False
    if blobs := blobs_in(joined):
        news = [without_blobs(text, blobs) for text in news]
        lines = {without_blobs(line, blobs) for line in lines}
    lines.update(*map(line_meanings, lines), *map(_joined_meanings, news))
    if not _are_clean(sorted(lines), news):
        return False
    if len(_clean) > _MOST_REMEMBERED:
        _clean.clear()
    _clean.update(map(hash, distinct), map(hash, texts))
    return True


def _joined_meanings(text: str) -> Iterator[str]:
    for line in joined_lines(text):
        yield line
        yield from line_meanings(line)


def _are_clean(lines: Sequence[str], texts: Collection[str]) -> bool:
    joined = "\n".join(lines)
    if _held(joined):
        return False
    if any(_random_words(_long_words(joined))) and any(any(_random_words(without_public(line))) for line in lines):
        return False
    if any(any(_addresses(without_numbers(line))) for line in lines if "@" in line):
        return False
    return not _fits_a_rule(lines, texts)


def _held(text: str) -> tuple[Sighting, ...]:
    return tuple(Sighting(HELD, start, spelling) for start, spelling in held_in(text))


def _published(text: str) -> Iterator[Sighting]:
    """The most particular rule's word for each stretch of text."""
    taken: list[tuple[int, int]] = []
    for rule, offset, match in _matches(without_blobs(text)):
        place, secret = secret_of(match)
        start, end = offset + match.start(), offset + max(match.end(), place + len(secret))  # what is looked ahead at
        if not _overlap(start, end, taken):
            taken.append((start, end))
            yield Sighting(rule.name, offset + place, secret)


def _matches(text: str) -> Iterator[tuple[Rule, int, Match]]:
    """Matches of all rules, with the offset of what was searched."""
    for place in sorted({place for hint, place in _HINTS if hint in text}):
        rule = RULES[place]
        yield from ((rule, 0, match) for match in rule.matches(text))
    for offset, line in _telling_lines(text):
        yield from ((rule, offset, match) for rule, match in named_in(line))


def _telling_lines(text: str) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in text.split("\n"):
        if may_name_a_secret(line):
            yield offset, line
        offset += len(line) + 1


@lru_cache(maxsize=2048)
def _meanings(text: str) -> tuple[str, ...]:
    return tuple(meanings(without_blobs(text)))


def _fits_a_rule(lines: Sequence[str], texts: Collection[str]) -> bool:
    """Whether a format, a place or a name tells of a secret in the texts, whose distinct lines are given."""
    joined = "\n".join(lines)
    words = _long_words(joined)
    if any(_fires(rule, words) for rule in FORMATS):
        return True
    if any(any(rule.matches(_hinted_lines(rule, lines, joined))) for rule in PLACES if not rule.spans):
        return True
    if any(any(named_in(line)) for line in lines if may_name_a_secret(line)):
        return True
    return any(_fires(rule, text) for rule in PLACES if rule.spans and _hinted(rule, joined) for text in texts)


def _hinted_lines(rule: Rule, lines: Sequence[str], joined: str) -> str:
    """The lines that hold a hint of the rule."""
    hints = [hint for hint in rule.hints if hint in joined]
    return "\n".join({line for hint in hints for line in lines if hint in line})


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
    if any(_addresses(text)):
        people = [match for match in _addresses(without_numbers(text)) if not _overlap(*match.span(), taken)]
        taken += [match.span() for match in people]
        seen += [Sighting(EMAIL, match.start(), match.group()) for match in people]
    if any(_random_words(text)):
        random = (match for match in _random_words(without_public(text)) if not _overlap(*match.span(), taken))
        seen += [Sighting(HIGH_ENTROPY, match.start(), match.group()) for match in random]
    return tuple(seen)


def _random_words(text: str) -> Iterator[Match]:
    return (match for match in _TOKEN.finditer(text) if _is_random(match.group()))


def _overlap(start: int, end: int, taken: list[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in taken)


def _addresses(text: str) -> Iterator[Match]:
    """Mail addresses of people."""
    return (match for match in _EMAIL.finditer(text) if not is_nobodys(match)) if "@" in text else iter(())


def _is_random(token: str) -> bool:
    """Random base-62/64 text changes between lower, upper and digit at 62 % of its steps, a name at about 30 %.

    Hex digests and UUIDs have no mixed case and pass; so do the public id prefixes of the protocols, and the
    base64 of a sentence.
    """
    if _PUBLIC_TOKEN.match(token):
        return False
    if not all(kind.search(token) for kind in _KINDS) or len(set(token)) < 12:
        return False
    changed, steps = changes(token)
    return changed >= 0.4 * steps and not re.search(r"[\s{<]", text_of_base64(token))


_LONGEST: Final = 2_000
_OVERLAP: Final = 200
"""Characters. Longer lines are looked at in pieces, and runs of blanks as one, as some patterns take cubic time."""
_ID: Final = re.compile(r"(?i)key_?id\b")
_BLANKS: Final = re.compile(r"[ \t]{2,}")
_PLUGINS: Final = (
    "aws.AWSKeyDetector", "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector", "cloudant.CloudantDetector", "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector", "gitlab_token.GitLabTokenDetector", "ibm_cloud_iam.IbmCloudIamDetector",
    "ibm_cos_hmac.IbmCosHmacDetector", "jwt.JwtTokenDetector", "mailchimp.MailchimpDetector", "npm.NpmDetector",
    "openai.OpenAIDetector", "private_key.PrivateKeyDetector", "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector", "slack.SlackDetector", "softlayer.SoftlayerDetector",
    "square_oauth.SquareOAuthDetector", "stripe.StripeDetector", "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)  # fmt: skip


class _Plugin(Protocol):
    def analyze_string(self, string: str) -> Iterator[str]:
        """Raw secrets in a string."""
        ...


def second_opinion(text: str) -> Iterator[tuple[int, str]]:
    """Offset and secret of all that detect-secrets sees in a text."""
    offset = 0
    for line in text.split("\n"):
        for place in range(0, max(1, len(line)), _LONGEST - _OVERLAP):
            piece = _BLANKS.sub(" ", line[place : place + _LONGEST])
            yield from ((offset + place + max(0, piece.find(found)), found) for found in _seen_by_plugins(piece))
        offset += len(line) + 1


@lru_cache(maxsize=1 << 16)
def _seen_by_plugins(line: str) -> tuple[str, ...]:
    """Remembered: requests repeat their prompts and schemas line by line."""
    if len(line) < 10 or line.isspace():
        return ()
    known, keyword = _plugins()
    seen = (secret for plugin in known for secret in plugin.analyze_string(line))
    found = [secret for secret in seen if not (is_placeholder(secret) or is_placeholder(_word(line, secret)))]
    if may_name_a_secret(line) and not _ID.search(line):
        found += [secret for secret in keyword.analyze_string(line) if is_token(secret, delimited=True)]
    return tuple(dict.fromkeys(found))


def _word(line: str, secret: str) -> str:
    """The word a secret stands in: some plug-ins give its first letters only."""
    place = line.find(secret)
    start = max(line.rfind(blank, 0, place) for blank in " \t=\"'") + 1
    return re.split(r"[\s\"']", line[max(0, start) :], maxsplit=1)[0]


@cache
def _plugins() -> tuple[tuple[_Plugin, ...], _Plugin]:
    """Those that know formats, and the one that knows names."""
    return tuple(map(_plugin, _PLUGINS)), _plugin("keyword.KeywordDetector")


def _plugin(name: str) -> _Plugin:
    module, kind = name.split(".")
    made: _Plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), kind)()
    return made
