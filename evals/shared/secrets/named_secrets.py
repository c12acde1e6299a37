"""Secrets that a name gives away: `token: …`, `<password>…</password>`, `ENV API_KEY …`, "the password is …"."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evals.shared.secrets.rule import Match, Rule, is_placeholder, rule, secret_of
from evals.shared.secrets.value_shapes import is_chosen, is_key, is_password, is_reference, is_token

_FOREIGN: Final = (
    r"clave|contrase(?:ñ|n)a|senha|mot de passe|kennwort|losungswort|wachtwoord|hasło|heslo|lösenordet|lösenord|"
    r"adgangskoden?|parola|şifre|salasana|mdp|kata sandi|passord(?:et)?|parolă|пароль|jelszó|mật khẩu|κωδικός|סיסמה|"
    r"كلمة المرور|पासवर्ड|パスワード|暗証|密码|密碼|비밀번호"
)
_FOREIGN_TOKENS: Final = r"トークン|キー|シークレット|密钥|密鑰|令牌|토큰|токен|ключ|schlüssel|jeton|clé"
_TELLING: Final = (
    "pass", "pw", "secret", "token", "key", "auth", "cred", "cookie", "session", "bearer", "basic", "identified",
    "login", "log in", "sign in", "connect(", "connection(", "pdo(", "psk", "otp", "digest", "clave", "contrase",
    "senha", "kennwort", "losungswort", "wachtwoord", "heslo", "adgangskode", "parola", "salasana", "jeton", "mdp",
    "sandi", "passord", "pepper",
)  # fmt: skip
"""In small letters; a name that gives a secret away holds one of them, or one of `_FOREIGN_TELLING`."""
_FOREIGN_TELLING: Final = tuple(
    part for part in f"{_FOREIGN}|{_FOREIGN_TOKENS}".split("|") if not part.isascii() and "(" not in part
)
_KEYS: Final = (
    r"api|access|account|admin|app|application|auth|authentication|authorization|bot|client|consumer|deploy|encryption|"
    r"hmac|integration|jwt|license|licence|master|personal|private|refresh|registry|root|secret|security|server|service|"
    r"session|shared|signing|ssh|storage|stream|subscription|user|webhook|write|id|bearer|oauth"
)
_PASSWORDS: Final = (
    r"pass(?:word|wd|phrase|code|wort)|(?<![a-z])(?:pass|pw|psk)|pwd|(?-i:(?<=[a-z0-9])P(?:ass|ASS|w|W))|"
    rf"requirepass|masterauth|bindpw|authtok|{_FOREIGN}"
)
_TOKENS: Final = (
    rf"token|secret|(?:{_KEYS})[-_ .]?(?:key|token|secret)(?:[-_]?base)?|credentials?|authorization|"
    r"x-auth|session[-_]?id|set-cookie|cookie|pepper|csrf[-_]?token|[th]otp|otp[-_]?(?:seed|key)|" + _FOREIGN_TOKENS
)
_PUBLIC: Final = re.compile(
    r"(?i)(?:public|publishable|next|page|continuation|cancel\w*|primary|foreign|cache|sort|partition|idempotency|"
    r"row|application[-_]?server|websocket|dedup\w*|pad|eos|bos|unk|sep|mask|sync|site|object|group|hash|lookup|index|shard|range)"
    r"[-_ .]?(?:key[-_ ]?)?(?:key|token|secret)$"
)
_SUFFIX: Final = r"(?:[-_]?(?:\d{1,2}|prod(?:uction)?|dev|test|stag(?:e|ing)|live|old|new|value|plain|b64|base64|raw))?"
_NAME: Final = rf"(?i:(?P<password>{_PASSWORDS})|(?:{_TOKENS})){_SUFFIX}"
_QUOTES: Final = r"""[\\"'`*]{0,64}"""  # JSON in JSON in JSON: each depth doubles the backslashes
_SCHEME: Final = (
    r"(?:(?i:token|bearer|basic|oauth|apikey|api-key|key|digest|negotiate|splunk|genie-?key)[ \t]+)?(?:[\w-]{1,20}=)?"
)
# Values have bounds, as each is looked ahead at: a text of nothing but signs would take quadratic time.
VALUE: Final = r"""[^\s"'`\\,;&<>(){}\[\]|]"""
QUOTED: Final = r"""[a-zA-Z@$]{0,2}(?P<quote>\\{0,16}["'`])(?P<quoted>(?:(?!(?P=quote))[^\s\\]){6,200})(?P=quote)"""
"""A literal: all between its quotes, whatever it is made of."""
ANY: Final = rf"(?:{QUOTED}|{_QUOTES}(?P<value>{VALUE}{{6,500}}))"
_CLOSED: Final = (
    r"""[\\"'`*\])]{0,64}(?:\[\d*\])?[ \t]?(?:\([^()\n]{1,40}\)[ \t]?)?(?::[ \t]?&?[\w.<>]{1,30}[ \t]?)?$"""
)
_NAMED_PASSWORD: Final = re.compile(rf"(?i)(?:{_PASSWORDS}){_SUFFIX}{_CLOSED}")
_NAMED_TOKEN: Final = re.compile(rf"(?i)(?:{_TOKENS}){_SUFFIX}{_CLOSED}")
_SIGN: Final = r"(?:[:=][=>]{0,2}|->|→|\uff1a)[*_]{0,2}[ \t]{0,3}(?:(?:!!?str|&\w{1,20})[ \t]+)?"
_FILLER: Final = r"[ \t]+[\w'\u2019./@#%()-]{1,40}"


def may_name_a_secret(line: str) -> bool:
    """Whether a line holds a telling part at all; the rules of this module look at no other."""
    return _is_telling_short(line) if len(line) < _SHORT else _is_telling(line)


def _is_telling(line: str) -> bool:
    small = line.lower()
    if any(part in small for part in _TELLING):
        return True
    return not line.isascii() and any(part in small for part in _FOREIGN_TELLING)


_SHORT: Final = 300
_is_telling_short: Final = lru_cache(1 << 14)(_is_telling)
"""Remembered: texts repeat their lines. Long lines are not, for the memory they take."""


def named_in(line: str) -> Iterator[tuple[Rule, Match]]:
    """What the rules of this module see in a line that may name a secret, each with its rule."""
    small = line.lower()
    for each in NAMED:
        if not each.hints or any(hint in small for hint in each.hints):
            yield from ((each, match) for match in each.matches(line))


@lru_cache(4096)
def is_named(name: str) -> bool:
    """Whether a member of this name would hold a secret."""
    return bool(_NAMED_PASSWORD.search(name) or _NAMED_TOKEN.search(name)) and not _PUBLIC.search(name)


def _before(match: Match) -> str:
    """What stands before the sign of assignment: a search that began at names would look at every letter of a line.

    The value is looked ahead at and not taken, as in `note: PASSWORD=…` it holds the sign that counts.
    """
    return match.string[max(0, match.start() - 140) : match.start()]


def _is_public(before: str) -> bool:
    return bool(_PUBLIC.search(before.rstrip("\\\"'`*]) \t")))


def passes(match: Match, judge: Callable[..., bool]) -> bool:
    """What a judge says of the value, and whether it is a literal."""
    return judge(secret_of(match)[1], delimited=match.re.groupindex.get("quoted") is not None and bool(match["quoted"]))


def _may_end_a_name(before: str) -> bool:
    """A quick look, as signs are many and names are few."""
    end = before.rstrip("\\\"'`*)]([0123456789 \t").lower()
    return end.endswith(_LAST_PARTS) or not end[-12:].isascii() or before.rstrip().endswith(")")


_LAST_PARTS: Final = (
    "pass", "word", "wd", "phrase", "code", "wort", "pw", "psk", "token", "secret", "key", "id", "base", "credential",
    "credentials", "authorization", "auth", "cookie", "otp", "seed", "clave", "contrasena", "senha", "passe",
    "wachtwoord", "heslo", "adgangskode", "parola", "salasana", "jeton", "prod", "production", "dev", "test", "stag",
    "stage", "staging", "live", "old", "new", "value", "plain", "b", "raw", "mdp", "sandi",
    "passord", "pepper", "str", "string", "authtok",
)  # fmt: skip
"""How names and their suffixes end, in small letters."""


def _is_assigned_password(match: Match) -> bool:
    before = _before(match)
    return _may_end_a_name(before) and bool(_NAMED_PASSWORD.search(before)) and passes(match, is_password)


def _is_assigned_token(match: Match) -> bool:
    before = _before(match)
    if not (_may_end_a_name(before) and _NAMED_TOKEN.search(before)):
        return False
    return passes(match, is_token) and not _is_public(before)


def _is_given_to_a_name(match: Match) -> bool:
    """By the syntax of a language: nothing but the value of that name can stand there."""
    if match.group("password") is not None:
        return passes(match, is_password)
    return passes(match, is_token) and not _is_public(match.string[: match.end("name")])


def _is_after_identified(match: Match) -> bool:
    """Between quotes nothing but a password can stand there."""
    value = match["value"]
    return not (is_placeholder(value) or is_reference(value)) and (bool(match["mark"]) or is_chosen(value))


def _is_an_odd_word(value: str, *, delimited: bool) -> bool:
    """Where the value could be anything else: a word that is none."""
    return is_password(value, delimited=True) if delimited else is_chosen(value)


def _is_a_key(value: str, *, delimited: bool) -> bool:
    return is_key(value) or (delimited and is_token(value, delimited=True))


@dataclass(frozen=True)
class _Gap:
    """What may stand between a name and its value, and what is asked of a password and of a token there."""

    pattern: re.Pattern[str]
    password: Callable[..., bool] = is_password
    token: Callable[..., bool] = is_token


_GAPS: Final = (
    # setPassword("…"), define('DB_PASSWORD', '…'), env.TOKEN || '…', get('password').type('…'), the table | token | … |
    _Gap(
        re.compile(
            rf"{_SUFFIX}(?:[\\\"'`]+\s*,|\(|[\\\"'`\])]*\s*(?:\|\||\?\?|\bor\b)|"
            rf"[\\\"'`\]]{{1,4}}\)?\.\w{{1,20}}\()\s*{QUOTED}"
        )
    ),
    _Gap(re.compile(rf"{_SUFFIX}[*`]*[ \t]*\|[ \t]*{ANY}")),
    # <password>…</password>, <entry key="db.password">…</entry>, <key>ApiKey</key> <string>…</string>
    _Gap(
        re.compile(
            rf"{_SUFFIX}(?:</[\w:.-]+>\s*<[\w:.-]+)?[^<>]{{0,60}}>\s*(?:<(?i:value|code|tt|b)>\s*)?(?:<!\[CDATA\[)?"
            r"(?P<quoted>[^\s<>\\]{6,200}|[^\s>\\]{6,200}(?=</))(?=\s*(?:\]\]>\s*)?(?:<|$(?<![\"'`])))"
        )
    ),
    # the token is …
    _Gap(
        re.compile(
            rf"{_SUFFIX}{_QUOTES}(?:{_FILLER}){{0,6}}?[ \t]*(?:[ \t](?:is|was|are|be|now|to|equals?|reads|becomes?|"
            rf"lautet|ist|war|es|este?|é|è|är|jest|je|er|on)\b|は|是|为|는|은)[ \t:=]*[ \t]*{ANY}"
        )
    ),
    # Password for bob: …
    _Gap(re.compile(rf"{_SUFFIX}{_QUOTES}(?:{_FILLER}){{1,5}}?[ \t]*{_SIGN}{ANY}")),
    # the secret you asked for - …
    _Gap(
        re.compile(rf"{_SUFFIX}{_QUOTES}(?:{_FILLER}){{0,5}}?[ \t]+[\u2013\u2014-][ \t]+{ANY}"),
        _is_an_odd_word,
        _is_a_key,
    ),
    _Gap(
        re.compile(rf"{_SUFFIX}{_QUOTES}(?:[ \t]*[\t\u2013\u2014-])?[ \t]+(?:of |as |\d )?{ANY}"),
        _is_an_odd_word,
        _is_a_key,
    ),
)
_DIRECTED: Final = _Gap(re.compile(rf"{_SUFFIX}{_QUOTES}[ \t]+(?:\d )?{ANY}"))
_DIRECTIVE: Final = re.compile(
    r"(?i)(?:(?:^|[\"'(`])\s*(?:[+>-]\s*)?|"
    r"\b(?:(?:env|arg|setenv|export|set)(?:\s+-\w+)*|login\s+\S+|user\w*\s+\S+|account\s+\S+|privilege\s+\d+|enable|with|default)\s+)"
    r"[\w.-]{0,60}$"
)
"""Before a name: ENV API_KEY …, setenv TOKEN …, machine x login y password …, requirepass …"""
_STEM: Final = re.compile(
    rf"{_FOREIGN}|{_FOREIGN_TOKENS}|"
    r"pass(?:word|wd|phrase|code|wort)?|pwd|pw|psk|token|secret|key|credentials?|authorization|x-auth|session[-_]?id|"
    rf"cookie|pepper|otp(?:[-_]?seed)?|masterauth|authtok"
)
"""In small letters: how every name ends, but for a suffix."""
_NAME_END: Final = re.compile(rf"(?P<name>{_NAME})$")


class _BehindAName(Rule):
    """Names are looked for by their last part, then what stands behind them, and only then what they are."""

    def matches(self, text: str) -> Iterator[Match]:
        """Every value that stands behind a name, in a line."""
        small = text.lower()
        for stem in self.pattern.finditer(small if len(small) == len(text) else text):
            found = next(filter(None, (_found(text, stem.end(), gap) for gap in (*_GAPS, _DIRECTED))), None)
            if found is not None:
                yield found


def _found(text: str, end: int, gap: _Gap) -> Match | None:
    """The value behind a gap that begins at `end`, if it is one of a name that ends there."""
    match = gap.pattern.match(text, end)
    if match is None or not (passes(match, gap.password) or passes(match, gap.token)):
        return None
    before = text[max(0, end - 60) : end]
    named = _NAME_END.search(before)
    if named is None or (gap is _DIRECTED and not _DIRECTIVE.search(before[: named.start()])):
        return None
    if named.group("password") is not None:
        return match if passes(match, gap.password) else None
    return match if passes(match, gap.token) and not _is_public(before) else None


_PROVIDERS: Final = (
    r"adafruit|adobe|airbrake|algolia|alchemy|amplitude|artifactory|asana|auth0|binance|bitbucket|bugsnag|buildkite|"
    r"circle-?ci|clearbit|cloudflare|codecov|cohere|coinbase|confluence|contentful|datadog|deepl|deepseek|dropbox|etherscan|"
    r"facebook|fastly|finnhub|freshdesk|gitter|heroku|infura|intercom|ipstack|jenkins|jira|keen|launchdarkly|linkedin|"
    r"linode|loggly|mailgun|mailjet|mapbox|mattermost|messagebird|mistral|mixpanel|netlify|new-?relic|nexmo|okta|opsgenie|"
    r"pagerduty|paypal|plaid|postmark|pusher|rapidapi|rollbar|scaleway|segment|sentry|shodan|sonar(?:qube)?|sparkpost|"
    r"splunk|square|strava|sumologic|telesign|travis|trello|twilio|twitch|twitter|typeform|vercel|virustotal|vonage|vultr|"
    r"weatherstack|zendesk|zapier"
)
_PROVIDER: Final = re.compile(rf"(?i)\b(?:{_PROVIDERS})(?:[ \t_.-]?\w{{1,12}}){{0,4}}[\\\"'` ]{{0,6}}[ \t]?$")
_PAIR_NAME: Final = (
    rf"(?:name|key|id|property|field)[\\\"']*\s*[=:]\s*{_QUOTES}[\w.:-]{{0,60}}?(?P<name>{_NAME}){_QUOTES}(?![\w])"
)
_LITERAL: Final = (
    r"""\s*[=:]\s*[a-zA-Z@$]{0,2}(?P<quote>\\*["'`])(?P<quoted>(?:(?!(?P=quote))[^\s\\]){6,200})(?P=quote)"""
)


def _belongs_to_a_provider(match: Match) -> bool:
    if not is_key(match["value"]):
        return False
    before = match.string[max(0, match.start() - 90) : match.start()]
    return bool(_PROVIDER.search(before)) and not _NO_KEY.search(before)


_NO_KEY: Final = re.compile(
    r"(?i)(?:id|sha\d*|commit|hash|digest|trace|request|ray|e-?tag|version|build|span|event|issue)[\W_]*$"
)
# Hints are in small letters here, of which a line holds one; a rule without is searched in every telling line.
NAMED: Final[tuple[Rule, ...]] = (
    rule("named_password", "", rf"{_SIGN}(?={ANY})", _is_assigned_password),
    rule("named_credential", "", rf"{_SIGN}(?={QUOTED})", _is_assigned_token),
    rule("named_credential", "", rf"{_SIGN}{_QUOTES}(?={_SCHEME}(?P<value>{VALUE}{{10,500}}))", _is_assigned_token),
    # <add key="ApiKey" value="…"/>, {"name": "API_KEY", "value": "…"}
    rule(
        "named_value",
        "name key id property field",
        rf"(?i){_PAIR_NAME}[^\n<>]{{0,60}}?\b(?:\w*value|default|content|text|data|string)"
        rf"[\\\"']*(?:{_LITERAL}|\s*[=:]\s*(?P<value>{VALUE}{{6,500}}))",
        _is_given_to_a_name,
    ),
    rule(
        "named_value",
        "",
        rf"(?i)\b(?:\w*value|content)[\\\"']*{_LITERAL}[^\n<>]{{0,40}}?\b{_PAIR_NAME}",
        _is_given_to_a_name,
    ),
    # variable "db_password" { … default = "…"
    rule(
        "named_value",
        "default value",
        rf"""(?i)["'][\w.-]{{0,60}}?(?P<name>{_NAME})["'][^\n<>=]{{0,60}}?\b(?:default|value){_LITERAL}""",
        _is_given_to_a_name,
    ),
    _BehindAName("named_value", (), _STEM),
    rule(
        "chosen_password",
        "identified",
        r"""(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?(?P<mark>[\\"'`]*)(?P<value>[^\s"'`\\;]{4,})""",
        _is_after_identified,
    ),
    # NetworkCredential("user", "…"), getConnection(url, "user", "…"), auth=("user", "…")
    *(
        rule(
            "login_call",
            "credential auth login connect pdo mysqli passwordtoken pw_set",
            r"""(?i)(?:credential\w*|auth\w*|login\w*|connect\w*|(?:pdo|mysqli\w*)(?:->\w+)?|passwordtoken|pw_set)"""
            rf"(?:\s*[(=]\s*\(?| )\s*(?:[^\s,()]{{1,200}}\s*,\s*){{{many}}}(?:[A-Z]\w{{1,20}}\()?(?={QUOTED})",
            lambda match: passes(match, is_password),
        )
        for many in (1, 2, 3)
    ),
    rule("login_call", "otp", rf"(?i)\b[th]otp\w*\(\s*{QUOTED}", lambda match: passes(match, is_token)),
    # OPENWEATHER_KEY=…, "routing_key": "…": any name that ends in key, if the value is one
    rule(
        "named_credential",
        "key",
        rf"(?:(?<=[A-Za-z0-9]_)(?i:key)|(?<=[a-z0-9-])Key){_QUOTES}\s?{_SIGN}{_QUOTES}(?!(?:[0-9a-f]{{40}}|[0-9a-f]{{64}})(?!\w))"
        r"(?P<value>[\w+/=-]{16,200})(?!\w)",
        lambda match: is_key(match["value"]) and not _is_public(match.string[: match.start()][-60:] + "key"),
    ),
    # use … as the new password
    Rule(
        "named_value",
        (" as ", " als ", " is the ", " is my "),
        re.compile(
            rf"(?:^|(?<=[\s\"'`(]))(?P<value>{VALUE}{{8,200}})[\"'`]?\s+(?:as|is|als)\s+(?:[\w']{{1,12}}\s+){{0,3}}?{_NAME}(?!\w)"
        ),
        lambda match: is_chosen(match["value"]) or is_key(match["value"]),
    ),
    # log in as jane / …, creds are jane:…
    rule(
        "named_value",
        "log sign cred zugang auth",
        r"(?i)\b(?:log ?in|sign in|cred(?:ential)?s?|login|zugang\w*|stats auth)\b[^\n]{0,120}?\s[\w.@-]{2,60}"
        rf"(?:\s+/\s+|:)(?!//)(?P<value>{VALUE}{{8,500}})",
        lambda match: is_chosen(match["value"]) or is_password(match["value"], delimited=False),
    ),
    rule("named_credential", "digest", r"(?i)\bdigest\s[^\n]{0,400}?\bresponse=[\\\"']*(?P<value>[0-9a-f]{32,})"),
)
KEYS_OF_PROVIDERS: Final = rule(
    "provider_key",
    ": = is",
    r"(?:[:=]>?|\bis\b)[ \t]*[\\\"'`]{0,6}(?P<value>[A-Za-z0-9-]{20,128})(?![\w-])",
    _belongs_to_a_provider,
)
"""Searched in every line, as the name of a provider holds no telling part."""
