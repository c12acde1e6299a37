"""Secrets that only their place gives away: after a name, in a URL, in a header, on a command line, in a PEM block.

What stands there may be any word, so a value has to look like one nobody would write but as a secret: letters and
digits mixed, no placeholder, no name in code. Where the place leaves no doubt (`curl -u`), no placeholder is enough.
"""

import base64
import binascii
import re
from typing import Final

from triage.secrecy.rule import Match, Rule, is_placeholder, rule

_KEYS: Final = (
    r"api|access|account|admin|app|application|auth|authentication|client|consumer|deploy|encryption|license|master|"
    r"private|secret|server|service|shared|signing|ssh|subscription|webhook"
)
_PASSWORDS: Final = r"pass(?:word|wd|phrase|code)|(?<![a-z])pass|pwd|passwort"
_TOKENS: Final = (
    rf"token|secret|(?:{_KEYS})[-_ .]?(?:key|token|secret)(?:[-_]?id)?|credentials?|authorization|"
    r"x-auth|session[-_]?id|sessionid|set-cookie|cookie|csrf[-_]?token"
)
_QUOTES: Final = r"""[\\"'`]{0,64}"""  # JSON in JSON in JSON: each depth doubles the backslashes
_SCHEME: Final = (
    r"(?:(?i:token|bearer|basic|apikey|api-key|key|digest|negotiate|splunk|genie-?key)[ \t]+)?(?:[\w-]{1,20}=)?"
)
_VALUE: Final = r"""[^\s"'`\\,;&<>(){}\[\]|]"""
_OPTIONS: Final = (
    r"(?:password|passwd|pass|passphrase|pwd|token|secret|api-?key|auth-?token|access-?token|access-?key|secret-?key|"
    r"client-?secret)"
)

_WORD: Final = re.compile(r"[A-Za-z]{0,20}\d{0,4}(?:[a-z]{1,2})?|\d+[A-Za-z]{0,3}")
_JOINED: Final = re.compile(r"[._/:@-]")  # as names in code, paths and addresses are
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")
_DATABASE: Final = re.compile(
    r"\b(?:server|host|data source|database|dbname|initial catalog)\s*=|\bjdbc:", re.IGNORECASE
)
_CLOSED: Final = r"""[\\"'`\])]{0,64}[ \t]?$"""
_NAMED_PASSWORD: Final = re.compile(rf"(?i)(?:{_PASSWORDS}){_CLOSED}")
_NAMED_TOKEN: Final = re.compile(rf"(?i)(?:{_TOKENS}){_CLOSED}")
_ASSIGNED: Final = rf"[:=][=>]{{0,2}}[ \t]{{0,3}}{_QUOTES}"
_OWN_NAME: Final = re.compile(r"(?i)pass|pwd|passwd|secret|token|key|str|none|null|test\d*$|user\d*$|utf")


def _is_mixed(value: str) -> bool:
    """Letters and digits mixed as no name mixes them: `v2`, `utf8`, `config.oauth2` and dates are names."""
    if not _has_both(value) or _DATE.fullmatch(value):
        return False
    return not all(map(_WORD.fullmatch, re.split(r"[^A-Za-z0-9]+", value)))


def _has_both(value: str) -> bool:
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def _value(match: Match) -> str:
    return match.group(1).rstrip(".:!?*")


def is_named(name: str) -> bool:
    """Whether a member of this name would hold a secret."""
    return bool(_NAMED_PASSWORD.search(name) or _NAMED_TOKEN.search(name))


def _name_before(match: Match) -> str:
    """What stands before the sign of assignment. A rule that began with names would look at every letter of a text.

    The value is looked ahead at and not taken, as in `note: PASSWORD=…` it holds the sign that counts.
    """
    return match.string[max(0, match.start() - 100) : match.start()]


def _is_a_token(match: Match) -> bool:
    value = _value(match)
    return len(value) >= 10 and _is_mixed(value) and not is_placeholder(value) and "://" not in value


def _is_a_password(match: Match) -> bool:
    """Any word of letters and digits, unless it repeats what it is called, or is made of names."""
    value = _value(match)
    if len(value) < 6 or not _has_both(value) or is_placeholder(value) or "://" in value or _DATE.fullmatch(value):
        return False
    return not (_JOINED.search(value) or _OWN_NAME.match(value)) or _is_mixed(value)


def _is_a_named_password(match: Match) -> bool:
    return _is_a_password(match) and bool(_NAMED_PASSWORD.search(_name_before(match)))


def _is_a_named_token(match: Match) -> bool:
    return _is_a_token(match) and bool(_NAMED_TOKEN.search(_name_before(match)))


def _is_given(match: Match) -> bool:
    """Where nothing but a secret can stand: only what says where it belongs is none."""
    value = match.group(1)
    return not is_placeholder(value) and not re.fullmatch(rf"(?i){_OPTIONS}", value)


def _is_no_placeholder(match: Match) -> bool:
    return not is_placeholder(match.group(1))


def _is_in_a_connection_string(match: Match) -> bool:
    around = match.string[max(0, match.start() - 200) : match.end() + 200]
    return _is_no_placeholder(match) and bool(_DATABASE.search(around))


def _is_a_login(match: Match) -> bool:
    """`Basic` is followed by base64 of `user:password`; in prose it is followed by a word."""
    try:
        decoded = base64.b64decode(match.group(1) + "=" * (-len(match.group(1)) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


PLACES: Final[tuple[Rule, ...]] = (
    rule("private_key", "PRIVATE PuTTY-", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY|PuTTY-User-Key-File-\d"),
    rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|[ps]k\.eyJ[\w-]{8,}\.[\w-]{16,}"),
    # A digit is asked for so that prose ("Bearer authentication-middleware") is no finding.
    rule("bearer_token", "earer", r"[Bb]earer\s+((?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,})", spans=True),
    rule("basic_auth", "asic", r"[Bb]asic\s+([A-Za-z0-9+/]{8,}={0,2})", _is_a_login, spans=True),
    rule("url_password", "://", r"://[^\s/:@]{0,200}:([^\s/@]{1,200})@(?=[\w\[])", _is_no_placeholder),
    rule("url_password", "://", r"://([^\s/:@]{10,200})@(?=[\w\[])", _is_a_token),
    rule(
        "connection_password",
        "assw ASSW wd= WD= Wd=",
        rf"\b(?i:password|passwd|pwd)=({_VALUE}+)(?=[;&\s\"']|$)",
        _is_in_a_connection_string,
        spans=True,
    ),
    rule("crypt_hash", "$", r"\$(?:apr1|1|5|6|2[aby]|y|argon2(?:id|i|d))\$[\w./$,=+-]{20,}"),
    rule(
        "login_option",
        "curl",
        rf"\bcurl\b[^\n|;]{{0,300}}?\s(?:-u|--user)[ =]?[\"'\\]{{0,4}}[\w.@-]+:({_VALUE}{{3,}})",
        _is_given,
    ),
    rule(
        "password_option",
        "mysql mariadb",
        rf"\b(?:mysql\w*|mariadb[\w-]*)\b[^\n|;]{{0,200}}?\s-p[\"'\\]{{0,4}}({_VALUE}{{4,}})",
        _is_given,
    ),
    rule("password_option", "sshpass", rf"\bsshpass\s+-p\s?[\"'\\]{{0,4}}({_VALUE}{{3,}})", _is_given),
    rule(
        "password_option",
        "redis-cli",
        rf"\bredis-cli\b[^\n|;]{{0,200}}?\s-a\s+[\"'\\]{{0,4}}({_VALUE}{{4,}})",
        _is_given,
    ),
    rule("password_option", "--", rf"(?i)--(?:[a-z]+-)?{_OPTIONS}[ =]+[\"'\\]{{0,4}}({_VALUE}{{6,}})", _is_a_password),
    rule("named_password", "ass wd ASS WD", rf"{_ASSIGNED}(?=({_VALUE}{{6,}}))", _is_a_named_password),
    rule("named_credential", ": =", rf"{_ASSIGNED}(?={_SCHEME}({_VALUE}{{10,}}))", _is_a_named_token),
    rule(
        "url_credential",
        "?key= &key= ?sig= &sig= ?code= &code= ?auth= &auth= ?appid= &appid=",
        rf"[?&](?:key|sig|code|auth|appid)=({_VALUE}{{10,}})",
        _is_a_token,
    ),
)
