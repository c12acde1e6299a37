"""What a secret looks like: one row per kind, from the most particular to the most general.

The formats are those the providers publish. A row is searched only where its hint stands in the text, so that a row
more costs next to nothing. Mixed-case randomness and e-mail addresses have rules of their own at the end: they ask for
more than a pattern.
"""

import base64
import binascii
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from secrecy.held import held_in

Match = re.Match[str]

EMAIL: Final = "email"
HELD: Final = "key_in_use"
HIGH_ENTROPY: Final = "high_entropy"
SHORTEST: Final = 15
"""No secret is shorter, but for those with an "@" in them."""


@dataclass(frozen=True)
class Rule:
    """`hints` are fixed parts of which every match holds one, `rough` finds at least what `pattern` finds, and faster;
    `holds` has the last word on a match.

    What the first group matches is the secret; the whole match where there is no group.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    holds: Callable[[Match], bool] = lambda _: True
    rough: re.Pattern[str] | None = None

    def matches(self, text: str) -> Iterator[Match]:
        """Every match in a text that holds one of the hints."""
        if self.rough is None or self.rough.search(text):
            yield from filter(self.holds, self.pattern.finditer(text))


@dataclass(frozen=True)
class Sighting:
    """A secret in a text: which rule saw it, at which offset, and what it is (never to be shown)."""

    rule: str
    start: int
    secret: str


def _is_a_login(match: Match) -> bool:
    """`Basic` is followed by base64 of `user:password`; in prose it is followed by a word."""
    try:
        decoded = base64.b64decode(match.group(1) + "=" * (-len(match.group(1)) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


_PLACEHOLDER: Final = re.compile(r"<.*>|\[.*\]|\{.*\}|\$.*|%[(s].*|[*x.…]+", re.IGNORECASE)


def _is_no_placeholder(match: Match) -> bool:
    return not _PLACEHOLDER.fullmatch(match.group(1))


_DATABASE: Final = re.compile(r"\b(?:server|host|data source|database|dbname|initial catalog)\s*=", re.IGNORECASE)


def _is_in_a_connection_string(match: Match) -> bool:
    around = match.string[max(0, match.start() - 200) : match.end() + 200]
    return _is_no_placeholder(match) and bool(_DATABASE.search(around))


_CREDENTIAL: Final = re.compile(
    r"(?:api[-_ ]?key|(?:secret|access|account)[-_ ]?key|auth[-_ ]?token|access[-_ ]?token|secret|password|passwd)"
    r"[\\\"']*\s*$",
    re.IGNORECASE,
)


def _is_named_a_credential(match: Match) -> bool:
    """Hex digests are everywhere; one that a text calls a key is a key."""
    return bool(_CREDENTIAL.search(match.string, max(0, match.start() - 40), match.start()))


def _rule(name: str, hints: str, pattern: str, holds: Callable[[Match], bool] = lambda _: True) -> Rule:
    return Rule(name, tuple(hints.split()), re.compile(pattern), holds)


_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""Where a word begins, also in JSON inside a text: in `\\nghp_…` the n is a line break."""


def _prefixed(name: str, prefixes: str, rest: str) -> Rule:
    """A key that begins with one of some fixed prefixes, at the start of a word."""
    starts = "|".join(map(re.escape, prefixes.split()))
    words = rf"(?:{starts}){rest}"
    return Rule(name, tuple(prefixes.split()), re.compile(_START + words), rough=re.compile(words))


RULES: Final = (
    _prefixed("anthropic_key", "sk-ant-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("openrouter_key", "sk-or-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("openai_key", "sk-", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("tavily_key", "tvly-", r"[A-Za-z0-9_-]{12,}"),
    _prefixed("langsmith_key", "lsv2_pt_ lsv2_sk_ ls__", r"[A-Za-z0-9_]{20,}"),
    _prefixed("huggingface_token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    _prefixed("groq_key", "gsk_", r"[A-Za-z0-9]{32,}"),
    _prefixed("xai_key", "xai-", r"[A-Za-z0-9]{32,}"),
    _prefixed("perplexity_key", "pplx-", r"[A-Za-z0-9]{32,}"),
    _prefixed("replicate_token", "r8_", r"[A-Za-z0-9]{32,}"),
    _prefixed("pinecone_key", "pcsk_", r"[A-Za-z0-9_]{32,}"),
    _prefixed("github_pat", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    _prefixed("github_token", "ghp_ gho_ ghs_ ghu_ ghr_", r"[A-Za-z0-9]{20,}"),
    _prefixed("gitlab_token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat-", r"[A-Za-z0-9_-]{16,}"),
    _rule("aws_key", "AKIA ASIA ABIA ACCA", _START + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _rule("azure_key", "JQQJ99", r"[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{16,}"),
    _rule("azure_client_secret", "Q~", r"[\w~.-]{3}\dQ~[\w~.-]{30,40}"),
    _rule("azure_account_key", "AccountKey= AccessKey=", r"Acc(?:ount|ess)Key=([A-Za-z0-9+/]{40,}={0,2})"),
    _rule("azure_signature", "sig=", r"[?&;]sig=([A-Za-z0-9%+/]{40,}={0,2})"),
    _prefixed("google_key", "AIza", r"[A-Za-z0-9_-]{30,}"),
    _prefixed("google_oauth", "ya29. GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("slack_token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9-]{10,}"),
    _rule("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/]{20,})"),
    _rule("discord_webhook", "/api/webhooks/", r"/api/webhooks/(\d+/[\w-]{30,})"),
    _rule("telegram_token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{30,}"),
    _prefixed("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9]{16,}"),
    _prefixed("twilio_key", "SK AC", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _prefixed("sendgrid_key", "SG.", r"[\w-]{16,}\.[\w-]{16,}"),
    _prefixed("npm_token", "npm_", r"[A-Za-z0-9]{30,}"),
    _prefixed("pypi_token", "pypi-AgE", r"[A-Za-z0-9_-]{16,}"),
    _prefixed("docker_token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{32,}"),
    _prefixed("databricks_token", "dapi", r"[0-9a-f]{32}"),
    _prefixed("vault_token", "hvs. hvb.", r"[A-Za-z0-9_-]{24,}"),
    _prefixed("grafana_token", "glsa_ glc_", r"[A-Za-z0-9+/=_]{30,}"),
    _prefixed("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _prefixed("notion_token", "ntn_", r"[A-Za-z0-9]{40,}"),
    _prefixed("linear_key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    _prefixed("atlassian_token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{40,}"),
    _prefixed("sentry_token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{30,}"),
    _rule("private_key", "PRIVATE PuTTY-", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY|PuTTY-User-Key-File-\d"),
    _rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    # A digit is asked for so that prose ("Bearer authentication-middleware") is no finding.
    _rule("bearer_token", "earer", r"[Bb]earer\s+((?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,})"),
    _rule("basic_auth", "asic", r"[Bb]asic\s+([A-Za-z0-9+/]{8,}={0,2})", _is_a_login),
    _rule("url_password", "://", r"://[^\s/:@]{0,200}:([^\s/@]{1,200})@(?=[\w\[])", _is_no_placeholder),
    _rule(
        "connection_password",
        "assw ASSW wd= WD= Wd=",
        r"\b(?i:password|passwd|pwd)=([^;\s\"'(),]+)(?=[;\s\"']|$)",
        _is_in_a_connection_string,
    ),
    _rule(
        "named_credential",
        ": =",
        r"[:=]\s?[\\\"']{0,3}([0-9a-f]{32,128}|[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])",
        _is_named_a_credential,
    ),
)

_HINTS: Final = tuple((hint, place) for place, rule in enumerate(RULES) for hint in rule.hints)

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})")
_NOBODYS_DOMAIN: Final = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|org|net)|[^.]*\.?(?:invalid|test|example|localhost))", re.IGNORECASE
)
_SERVICE_ACCOUNTS: Final = ("git@",)  # `git@github.com:…` is how a clone URL is spelled, nobody's address
_TOKEN: Final = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
_PUBLIC_TOKEN: Final = re.compile(r"(?:chatcmpl|call|req|fp|resp|msg|toolu|run|sha256|sha384|sha512)[-_]")


def known_formats(text: str) -> Iterator[Sighting]:
    """Every key that is in use, and every secret of a published format."""
    yield from _held(text)
    yield from _published(text)


def _held(text: str) -> tuple[Sighting, ...]:
    return tuple(Sighting(HELD, start, spelling) for start, spelling in held_in(text))


def _published(text: str) -> Iterator[Sighting]:
    """The most particular rule's word for each stretch of text."""
    taken: list[tuple[int, int]] = []
    for place in sorted({place for hint, place in _HINTS if hint in text}):
        rule = RULES[place]
        for match in rule.matches(text):
            if not _overlaps(match, taken):
                taken.append(match.span())
                group = match.lastindex or 0
                yield Sighting(rule.name, match.start(group), match.group(group))


def secrets_in(text: str) -> tuple[Sighting, ...]:
    """Every secret: a key in use, the known formats, somebody's address, and what is too random to be a name."""
    return (*_held(text), *(_seen(text) if len(text) >= SHORTEST or "@" in text else ()))


def none_in(texts: Collection[str]) -> bool:
    """Whether all of these texts are free of secrets, as `secrets_in` sees them; doubt counts as no.

    Hints, addresses and random words hold no line break, so that lines which recur are looked at once; formats may span
    lines, and are searched in whole texts.
    """
    if any(_held(text) for text in texts):
        return False
    lines = "\n".join({line for text in texts for line in text.split("\n")})
    if any(_is_random(match.group()) for match in _TOKEN.finditer(lines)):
        return False
    if "@" in lines and any(_is_somebody(match) for match in _EMAIL.finditer(lines)):
        return False
    hinted = [rule for rule in RULES if any(hint in lines for hint in rule.hints)]
    return not any(
        any(rule.matches(text)) for rule in hinted for text in texts if any(hint in text for hint in rule.hints)
    )


@lru_cache(maxsize=2048)
def _seen(text: str) -> tuple[Sighting, ...]:
    """Remembered, since the requests of a cassette repeat their prompts and schemas."""
    seen = list(_published(text))
    taken = [(sighting.start, sighting.start + len(sighting.secret)) for sighting in seen]
    if "@" in text:
        people = [match for match in _EMAIL.finditer(text) if _is_somebody(match) and not _overlaps(match, taken)]
        taken += [match.span() for match in people]
        seen += [Sighting(EMAIL, match.start(), match.group()) for match in people]
    random = (match for match in _TOKEN.finditer(text) if _is_random(match.group()) and not _overlaps(match, taken))
    return (*seen, *(Sighting(HIGH_ENTROPY, match.start(), match.group()) for match in random))


def _overlaps(match: Match, taken: list[tuple[int, int]]) -> bool:
    return any(match.start() < end and start < match.end() for start, end in taken)


def _is_somebody(match: Match) -> bool:
    return not (_NOBODYS_DOMAIN.fullmatch(match.group(1)) or match.group().startswith(_SERVICE_ACCOUNTS))


def _is_random(token: str) -> bool:
    """Random base-62/64 text changes between lower, upper and digit at 62 % of its steps, a name at about 30 %.

    Hex digests and UUIDs have no mixed case and pass; so do the public id prefixes of the protocols.
    """
    if _PUBLIC_TOKEN.match(token):
        return False
    kinds = [_kind(character) for character in token]
    steps = [(left, right) for left, right in pairwise(kinds) if left and right]
    changes = sum(left != right for left, right in steps)
    return {"lower", "upper", "digit"} <= set(kinds) and len(set(token)) >= 12 and changes >= 0.4 * len(steps)


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "lower" if character.islower() else "upper"
    return ""
