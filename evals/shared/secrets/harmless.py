"""Random strings that are public: images and fonts in base64, certificates, keys, digests, mangled names, links."""

import re
from collections.abc import Iterable
from typing import Final

Stretch = tuple[tuple[str, ...], re.Pattern[str]]
"""Fixed parts of which every such stretch holds one, and what it looks like."""


def _stretch(hints: str, *parts: str) -> Stretch:
    return tuple(hints.split()), re.compile("".join(parts))


_WORD: Final = r"[A-Za-z0-9+/_=-]"
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
        rf"(?:W/)?[\"'\\]{{0,3}}(?:sha-?\d+[-:=]{{1,2}}\s?)?{_WORD}+",
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
        rf"[\[\"'\\]{{0,5}}{_WORD}{{16,}}",
    ),
    # Numbers that a protocol makes anew for each connection, message or public key
    _stretch(
        "WebSocket oundary None-Match kid x5t",
        r"(?i)(?:sec-websocket-(?:accept|key)\W{1,4}(?:header value )?|boundary=[\"\\]{0,3}-*|-{4,}\w*?boundary|",
        r"if-none-match\W{1,6}(?:W/)?[\"\\]{0,3}|\b(?:kid|x5t(?:#s256)?)[\"'\\]{0,4}\s*[:= ]\s*[\"'\\]{0,4})",
        rf"{_WORD}+",
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
