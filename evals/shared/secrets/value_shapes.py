"""Shapes of values: words that look like a secret, and random strings that are public."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from evals.shared.secrets.rule import changes, is_placeholder

_WORD: Final = re.compile(r"[A-Za-z]{0,20}\d{0,4}(?:[a-z]{1,2})?|\d+[A-Za-z]{0,3}")
_JOINED: Final = re.compile(r"[._/:@-]")  # as names in code, paths and addresses are
_PART_OF_A_NAME: Final = re.compile(
    r"[A-Z]?[a-z]{2,20}\d{0,4}|[A-Z]{2,20}\d{0,4}|(?:[a-z]{2,}|[A-Z][a-z]+)(?:[A-Z][a-z]+)+\d{0,4}|\d*|[A-Za-z]\d?|\d+[a-z]{1,2}"
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")
_OWN_NAME: Final = re.compile(r"(?i)pass|pwd|passwd|secret|token|key|str|none|null|test\d*$|user\d*$|utf")
_REFERENCE: Final = re.compile(
    r"(?i)(?:md5|sha-?\d{1,3}|arn|vault|secretref|ref\+\w+|keyvault|file|env|op|aws|gcp|pkg|urn|projects)[:/+-].*"
    r"|0x[0-9a-f]{1,40}|\w+@[0-9a-f]{6,8}|(?:argon|pbkdf|base|utf|aes|rsa|ed|hs|rs|es)-?\d{1,5}(?:id|url|\w?)"
    r"|/[\w./@+-]*|(?-i:[A-Z_]{3,}=[^=].*)|\.{1,2}/.*|~/.*|[A-Z]:\\.*"
    r"|.*\.(?:pem|key|crt|json|ya?ml|txt|py|js|ts|go|rs|java|env|cfg|conf|ini|toml|html?)"
    r"|.*(?:\$\{|\{\{|<%|%\().*|v?\d+(?:\.\d+){1,3}[\w.+-]*|@[\w-]+\..*|[a-z]+,[a-z]+=.*|.*\[\d*\].*"
)
_CODE: Final = re.compile(
    r"(?i)passw|secret|token|config|setting|request|param|field|column|default|version|oauth|http|string|\.[a-z]{2,4}$"
    r"|(?<![a-z])(?:pass|pwd|key|self|this|env|args?|os|user|test|str|utf|name|id|value|type|sha)(?![a-z])"
    r"|(?<![a-z0-9])v\d+(?![a-z])"
)
"""Parts of names in code and of addresses."""
_LETTER: Final = re.compile("[A-Za-z]")
_IDEOGRAPH: Final = re.compile("[\u2e80-\uffdc]")
_ENDS: Final = ".:!?*"
_MARKS: Final = frozenset("!@#$%^&*?+~")
_PASSPHRASE: Final = re.compile(
    r"(?=.{8})(?:[A-Z][a-z]{2,}(?:[-_.<&]?[A-Za-z]{3,}){0,4}[-_.]?\d{2,4}[^\w\s]{0,2}"
    r"|[a-z]{3,}(?:[-_.~][a-z]{3,}){1,4}[-_.]\d{2,4}|[A-Za-z][a-z]{2,}\d{2,4}[-_.](?:[A-Z]{2,4}|[A-Z][a-z]{2,}))"
)
_DIGIT_OR_MARK: Final = re.compile(r"[^A-Za-z]")
_PAIRS: Final = """
    th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa
    si ar ve ra ld ur ic ro li ri io co ce me ll ma ne ta be ns la el om ec ch ss us no ca il ac na lo
    di po pe ge tr ee so ct ai mo un pr ad em id su ul ie sh ke ol ir ot im ow am op ay ry wo up ab ev
    ut ag fi ho vi mi ap bo gr qu ex da fo oo tt
"""
_COMMON_PAIRS: Final = frozenset(_PAIRS.split())
"""Most of the pairs of neighbours in English words: of random letters less than a quarter are among them."""


def has_both(value: str) -> bool:
    """Letters of an alphabet that keys are made of, and digits."""
    return bool(_LETTER.search(value)) and any(map(str.isdigit, value)) and not _IDEOGRAPH.search(value)


def is_mixed(value: str) -> bool:
    """Letters and digits mixed as no name mixes them: `v2`, `utf8`, `config.oauth2` and dates are names."""
    if not has_both(value) or _DATE.fullmatch(value):
        return False
    return not all(map(_WORD.fullmatch, re.split(r"[^A-Za-z0-9]+", value)))


def is_gibberish(value: str) -> bool:
    """Sixteen and more letters in a row, or ten of both cases, that are no words: few of their pairs are of English."""
    return any(
        (len(run) >= 16 or (len(run) >= 10 and changes(run)[0] >= 0.3 * len(run)))
        and sum(left + right in _COMMON_PAIRS for left, right in pairwise(run.lower())) < 0.4 * len(run)
        for run in _DIGIT_OR_MARK.split(value)
    )


def is_reference(value: str) -> bool:
    """What says where a secret is, or is no secret by its form: a path, a version, a digest, a template, an address."""
    return "://" in value or bool(_REFERENCE.fullmatch(value))


def is_token(value: str, *, delimited: bool = False) -> bool:
    """What may stand behind the name of a token: ten and more characters, mixed or no words.

    `delimited` says that the value is a literal, between quotes or tags: then it cannot be a name in code.
    """
    value = value if delimited else value.rstrip(_ENDS)
    if len(value) < 10 or is_placeholder(value) or is_reference(value):
        return False
    if is_mixed(value) or is_gibberish(value) or is_strong(value):
        return True
    return delimited and (
        _is_made_of_words(value) or (has_both(value) and not (_is_a_name(value) or _CODE.search(value)))
    )


def is_password(value: str, *, delimited: bool = False) -> bool:
    """Any word of letters and digits, unless it repeats what it is called, or is made of names."""
    if is_strong(value):
        return True
    value = value if delimited else value.rstrip(_ENDS)
    if len(value) < 6 or is_placeholder(value) or is_reference(value) or _DATE.fullmatch(value):
        return False
    if not has_both(value):
        return is_gibberish(value)
    if not (_JOINED.search(value) or _OWN_NAME.match(value)):
        return True
    return not _is_a_name(value) or _is_made_of_words(value)


def _is_a_name(value: str) -> bool:
    """`config.oauth2`, `test_user_1`: parts as names in code have them."""
    return all(map(_PART_OF_A_NAME.fullmatch, re.split(r"[^A-Za-z0-9]+", value)))


def is_strong(value: str) -> bool:
    """What nobody writes as a word: letters of two kinds or a digit, and marks where no name has them."""
    if len(value) < 8 or is_placeholder(value) or is_reference(value) or " " in value or _IDEOGRAPH.search(value):
        return False
    kinds = (any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value)))
    marked = any(mark in value[1:] for mark in _MARKS)
    return marked and sum(kinds) >= 2 and sum(map(str.isalnum, value)) >= 5 and not _CODE.search(value)


def _is_made_of_words(value: str) -> bool:
    """`Walnut-umbra54`, `walnut-umbra-541`, `walnut54.Umbra`: words and a number, as people make up passwords."""
    return bool(_PASSPHRASE.fullmatch(value)) and not _CODE.search(value)


def is_chosen(value: str) -> bool:
    """What looks like a password by itself: random letters and digits, marks, or words and a number."""
    value = value.rstrip(_ENDS)
    if len(value) < 8 or is_placeholder(value) or is_reference(value):
        return False
    changed, steps = changes(value)
    odd = has_both(value) and changed >= 0.4 * steps and not _is_a_name(value)
    return odd or is_mixed(value) or is_strong(value) or _is_made_of_words(value)


def is_key(value: str) -> bool:
    """A UUID, hex of 32 and more digits, or 20 and more letters and digits that change as chance does."""
    if re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-fA-F]{32,128}", value):
        return has_both(value)
    changed, steps = changes(value)
    if len(value) < 20 or not is_mixed(value) or is_reference(value):
        return False
    return changed >= 0.3 * steps or is_gibberish(_DIGIT_OR_MARK.sub("", value))


Stretch = tuple[tuple[str, ...], re.Pattern[str]]
"""Fixed parts of which every such stretch holds one, and what it looks like."""


def _stretch(hints: str, *parts: str) -> Stretch:
    return tuple(hints.split()), re.compile("".join(parts))


_CODE_WORD: Final = r"[A-Za-z0-9+/_=-]"
_FOLD: Final = r"(?:\s|\\{1,8}[nr])[ \t>+|-]{0,8}"
_WRAPPED: Final = rf"[A-Za-z0-9+/=]*(?:{_FOLD}[A-Za-z0-9+/=]{{20,100}})*(?:{_FOLD}[A-Za-z0-9+/]*={{1,2}})?"
_BLOBS: Final[tuple[Stretch, ...]] = (
    _stretch(
        "data:",
        r"data:(?:image|font|audio|video|application/(?:font|x-font|octet|pdf|wasm|zip|vnd))[\w/+.;=-]{0,80}?base64,",
        _WRAPPED,
    ),
    _stretch(
        "BEGIN",
        r"-{4,5} ?BEGIN (?![A-Z0-9 ]*PRIVATE)[A-Z0-9 ]+-{4,5}",
        r"(?:(?:[A-Za-z0-9+/=:,.\s\"'>|-]|\\{1,8}[nr])(?!BEGIN)){0,20000}?-{4,5} ?END [A-Z0-9 ]+-{4,5}",
    ),
    _stretch(
        "AAAA",
        r"(?:(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-[\w-]+|sk-(?:ssh|ecdsa)[\w.@-]+)[ \\n]+AAAA",
        r"|(?<![A-Za-z0-9+/])AAAA(?:B3NzaC1|C3NzaC1|E2VjZHNhLXNoYTIt))[A-Za-z0-9+/]+={0,3}(?: [\w.-]+@[\w.-]+)?",
    ),
    # By the first bytes: PNG, JPEG, GIF, WebP, SVG, XML, PDF, fonts, gzip, zip, icon, MP3, ELF, WebAssembly, keys,
    # certificate (its PEM block, in base64 once more)
    _stretch(
        "iVBOR /9j/ R0lG UklG PHN2 PD94 JVBE d09G AAEAA T1RU H4sI UEsD AAAB SUQz f0VM AGFz MIIB MIIC MIGf MFkw MCow "
        "MHYw LS0tLS1CRUdJTiBDRVJU",
        r"(?<![A-Za-z0-9+/])(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|PHN2Zy|PD94bWw|JVBERi0|d09GM|d09GR|AAEAAAA|T1RUTw|H4sIA|",
        r"UEsDB|AAABAA|SUQz|f0VMR|AGFzbQ|MIIBIjANBgkq|MIICIjANBgkq|MIGfMA0GCSq|MFkwEwYHKoZI|MCowBQYDK2Vw|MHYwEAYHKoZI|LS0tLS1CRUdJTiBDRVJU)",
        _WRAPPED,
    ),
    _stretch("arn:", r"\barn:aws[\w-]*:[\w:/.*@+=-]+"),
    _stretch("pk_ pk. phc_", r"\b(?:pk_(?:live|test)_|phc_|pk\.eyJ)[\w.-]+"),
    # Ciphertext, as jasypt, sops, Maven and Jenkins write it
    _stretch("ENC[ ENC( =}", r"\bENC(?:\[[^\]\s]{8,4000}\]|\([^)\s]{8,4000}\))|\{[A-Za-z0-9+/]{20,}={1,2}\}"),
)
"""Nothing that looks like a secret in there is one, for any rule."""
_NUMBERS: Final[tuple[Stretch, ...]] = (
    _stretch(
        "Message- message- In-Reply eferences",
        r"(?i)(?:message-?id|in-reply-to|references)\b\W{0,4}(?:<[^<>\s]{1,200}>\s*){1,20}",
    ),
    _stretch(
        "SHA sha MD5 md5 Md5 h1: ETag etag Etag tegrity igest ingerprint hecksum once",
        r"(?i)\b(?:sha-?\d{1,3}|md5|h1|e-?tag|integrity|digest|fingerprint|checksum|hash|c?nonce)\b[\"']?\s*[:= /-]\s*",
        rf"(?:W/)?[\"'\\]{{0,3}}(?:sha-?\d+[-:=]{{1,2}}\s?)?{_CODE_WORD}+",
    ),
    _stretch(
        "_Z _R ? $s _T",
        r"(?<![A-Za-z0-9_])(?:_{1,3}Z[A-Z]?[\w.$@]+|_{1,2}R[A-Z][\w.$]+|\?\??[\w@?$]+@@[\w@?$]*|_?\$s[\w]+|_T0[\w]+)",
    ),
    _stretch("DKIM- dkim= DKIM1 ARC- X-G", r"(?:(?:DKIM-Signature|dkim|ARC-[\w-]+|X-G[\w-]+)\s*[:=]|v=DKIM1).{0,400}"),
    # What a name calls an id, a place in a list, a public key or a challenge
    _stretch(
        'd e ID UBLIC cursor x5c "n" "x" "y"',
        r"(?<![Ss]ecret[-_ ])(?:(?<![A-Za-z])(?i:id|uid|guid)(?:-2)?|(?<=[a-z])I[dD]|(?<=[\"'])[nxy](?=[\"'])",
        r"|(?i:cursor|state|challenge|verification|site-?key|public[-_]?key|server-?key|(?:page|next)[-_]?token|handle|",
        r"iterator|ciphertext\w{0,9}|x5c|\bsecure))[\"'\\]{0,4}\s{0,3}(?:[:=]|content=|\s)\s{0,3}(?:\w{1,30}\()?",
        rf"[\[\"'\\]{{0,5}}{_CODE_WORD}{{16,}}",
    ),
    # Numbers that a protocol makes anew for each connection, message or public key
    _stretch(
        "WebSocket oundary None-Match kid x5t",
        r"(?i)(?:sec-websocket-(?:accept|key)\W{1,4}(?:header value )?|boundary=[\"\\]{0,3}-*|-{4,}\w*?boundary|",
        r"if-none-match\W{1,6}(?:W/)?[\"\\]{0,3}|\b(?:kid|x5t(?:#s256)?)[\"'\\]{0,4}\s*[:= ]\s*[\"'\\]{0,4})",
        rf"{_CODE_WORD}+",
    ),
    _stretch("17h", r"::h[0-9a-f]{16}\b"),
    _stretch(
        "/",
        r"(?<![\w.@+~/-])(?:[\w.@+~-]{0,100}/){1,20}[\w.@+~-]{1,100}",
        r"\.(?:m?js|css|map|png|jpe?g|gif|svg|webp|ico|woff2?|ttf|html?|json|wasm|mp4|webm)\b",
    ),
)
_URL: Final = re.compile(r"(?:\b[a-z][a-z0-9+.-]*://|\bwww\.)[^\s\"'<>`|\\^{}()\[\]]+")
_TELLING_URL: Final = re.compile(
    r"(?i)reset|token|invit|hook|secret|key|auth|magic|verif|subscri|(?<!de)sign|sig=|callback|password|session|login|"
    r"credential|confirm|activat|access|//[^/]*(?:api|rpc|mainnet|testnet|gateway|ingest)|//[^/]*@|/v\d+/"
)
_ASSET: Final = re.compile(
    r"(?i)\d(?:\.\d)?x\..*|.*\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|scss|m?jsx?|tsx?|json|map|html?|tgz|gz|whl|jar)"
)
_NOBODYS_DOMAIN: Final = re.compile(
    r"(?i)(?:.*\.)?(?:example\.(?:com|org|net)|[^.]*\.?(?:invalid|test|example|localhost|local|internal|localdomain|lan))"
)
_NOBODYS_NAME: Final = re.compile(
    r"(?i)(?:git|no-?reply|do-?not-?reply|mailer-daemon|daemon|post-?master|host-?master|web-?master|abuse|root|admin|administrator|"
    r"postgres|mysql|www-data|nobody|anonymous|support|info|hello|contact|sales|security|team|ops|dev|ci|bot|ci-bot|deploy|"
    r"build|jenkins|billing|notifications?|newsletter|help|office|service)(?:[+-]\w+)?"
    r"|[0-9a-f-]{20,}|.*[0-9a-f]{8}-[0-9a-f]{4}-.*|ca[+][\w=+-]{20,}"
)
"""Of services and roles (`git@github.com:…` is how a clone URL is spelled), and of messages, which are numbered so."""


def without_blobs(text: str, kinds: Iterable[Stretch] = _BLOBS) -> str:
    """The text with images, certificates, public keys and names of resources blanked; offsets stay."""
    return _blanked(text, kinds)


def without_public(text: str) -> str:
    """The text with every stretch blanked that is random and public; offsets stay."""
    text = without_numbers(text)
    return _URL.sub(_blank_link, text) if "://" in text or "www." in text else text


def _blanked(text: str, stretches: Iterable[Stretch]) -> str:
    for hints, pattern in stretches:
        if any(hint in text for hint in hints):
            text = pattern.sub(_blank, text)
    return text


def blobs_in(text: str) -> list[Stretch]:
    """The kinds that `without_blobs` may find in a text or in a part of it."""
    found = ((tuple(hint for hint in hints if hint in text), pattern) for hints, pattern in _BLOBS)
    return [(hints, pattern) for hints, pattern in found if hints]


def without_numbers(text: str) -> str:
    """The text without digests, mangled names, asset files and numbers of messages."""
    return _blanked(without_blobs(text), _NUMBERS)


def is_nobodys(address: re.Match[str]) -> bool:
    """Whether a mail address, its domain in the first group, is that of no person: of an example, a service, a file."""
    name, _, domain = address.group().rpartition("@")
    before = address.string[max(0, address.start() - 3) : address.start()]
    return (
        bool(_NOBODYS_DOMAIN.fullmatch(domain) or _ASSET.fullmatch(domain) or _NOBODYS_NAME.fullmatch(name))
        or before == "://"
    )


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _blank_link(match: re.Match[str]) -> str:
    """A link to something public; what the address says of keys, doors and invitations stays."""
    return match.group() if _TELLING_URL.search(match.group()) else _blank(match)
