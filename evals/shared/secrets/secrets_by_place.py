"""Secrets that their place gives away without a name: in a URL, in a header, on a command line, in a PEM block."""

import base64
import binascii
import re
from typing import Final

from evals.shared.secrets.named_secrets import ANY, KEYS_OF_PROVIDERS, QUOTED, VALUE, passes
from evals.shared.secrets.rule import Match, Rule, is_placeholder, rule, secret_of
from evals.shared.secrets.value_shapes import is_chosen, is_key, is_mixed, is_password, is_token

_OPTIONS: Final = (
    r"(?:password|passwd|pass|passphrase|passcode|passin|passout|storepass|keypass|pwd|pw|token|secret|api-?key|auth-?token|"
    r"access-?token|access-?key|secret-?key|client-?secret|secret-?id|auth|key)"
)
_DATABASE: Final = re.compile(
    r"\b(?:server|host|data source|database|dbname|initial catalog)\s*=|\bjdbc:", re.IGNORECASE
)
_LOGINS: Final = (
    r"login|docker|podman|nerdctl|buildah|skopeo|helm|oras|az|oc|cf|twine|poetry|npm|doctl|vault|sqlcmd|bcp|isql|mongo\w*|"
    r"mysql\w*|mariadb[\w-]*|clickhouse\S*|cqlsh|influx|ldap\w+|smbclient|mosquitto\w*|amqp\S*|sqlplus|winexe|xfreerdp|plink|pscp|"
    r"mc|svn|htpasswd|gpg2?|7za?|7zz|zip|unzip|rar|unrar|ssh-keygen|keytool|openssl|snmp\w*|ipmitool|psexec|winrs|runas|curl|http|https|xh|"
    r"nxc|netexec|crackmapexec|evil-winrm|rdesktop|useradd|restic|oathtool|impacket-\w+"
)

_LOGIN_COMMAND: Final = re.compile(rf"\b(?:{_LOGINS})\b[^\n|;]*$")


def _is_token(match: Match) -> bool:
    return passes(match, is_token)


def _is_password(match: Match) -> bool:
    return passes(match, is_password)


def _is_given(match: Match) -> bool:
    """Where nothing but a secret can stand: only what says where it belongs is none."""
    value = secret_of(match)[1]
    return not is_placeholder(value) and not re.fullmatch(rf"(?i){_OPTIONS}", value)


def _is_no_placeholder(match: Match) -> bool:
    return not is_placeholder(secret_of(match)[1])


def _is_in_a_connection_string(match: Match) -> bool:
    around = match.string[max(0, match.start() - 200) : match.end() + 200]
    return _is_no_placeholder(match) and bool(_DATABASE.search(around))


def _is_a_login(match: Match) -> bool:
    """`Basic` is followed by base64 of `user:password`, `AUTH PLAIN` by the same with NUL; in prose a word follows."""
    word = match.group("value")
    try:
        decoded = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).replace(b"\0", b":")
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


def _is_of_a_login(match: Match) -> bool:
    return passes(match, is_password) or is_key(secret_of(match)[1])


def _is_of_a_login_command(match: Match) -> bool:
    before = match.string[max(0, match.start() - 200) : match.start()]
    return bool(_LOGIN_COMMAND.search(before)) and _is_of_a_login(match)


PLACES: Final[tuple[Rule, ...]] = (
    rule("private_key", "PRIVATE PuTTY-", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY|PuTTY-User-Key-File-\d"),
    rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|[ps]k\.eyJ[\w-]{8,}\.[\w-]{16,}"),
    # A digit is asked for so that prose ("Bearer authentication-middleware") is no finding.
    rule("bearer_token", "earer", r"[Bb]earer\s+(?P<value>(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,})", spans=True),
    rule("basic_auth", "asic", r"[Bb]asic\s+(?P<value>[A-Za-z0-9+/]{8,}={0,2})", _is_a_login, spans=True),
    rule("url_password", "://", r"://[^\s/:@]{0,200}:(?P<value>[^\s/@]{1,200})@(?=[\w\[])", _is_no_placeholder),
    rule("url_password", "://", r"://(?P<value>[^\s/:@]{10,200})@(?=[\w\[])", _is_token),
    rule(
        "connection_password",
        "assw ASSW wd= WD= Wd=",
        rf"\b(?i:password|passwd|pwd)=(?P<value>{VALUE}+)(?=[;&\s\"']|$)",
        _is_in_a_connection_string,
        spans=True,
    ),
    rule("crypt_hash", "$", r"\$(?:apr1|1|5|6|2[aby]|y|argon2(?:id|i|d))\$[\w./$,=+-]{20,}"),
    rule("crypt_hash", "scrypt: :::", r"scrypt:[\d:]{3,30}\$[\w./$]{20,}|(?::[0-9a-fA-F]{32}){2}:::"),
    rule(
        "login_option",
        "curl http lftp -auth",
        r"\b(?:curl|https?|xh|lftp|java)\b[^\n|;]{0,300}?\s(?:-u|--user|--proxy-user|-U|-a|--?auth)[ =]?[\"'\\]{0,4}"
        rf"[\w.@-]+[:,](?P<value>{VALUE}{{3,500}})",
        _is_given,
    ),
    rule(
        "password_option",
        "mysql mariadb sshpass redis-cli",
        r"\b(?:(?:mysql|mariadb)[\w-]*\b[^\n|;]{0,200}?\s-p|sshpass\s+-p\s?|redis-cli\b[^\n|;]{0,200}?\s-a\s+)"
        rf"[\"'\\]{{0,4}}(?P<value>{VALUE}{{4,500}})",
        _is_given,
    ),
    rule(
        "password_option",
        "-- -storepass -keypass -pass -pw -token -secret /p: /pass:",
        rf"(?i)(?<![\w-])(?:--?(?:[a-z]{{1,20}}-){{0,4}}(?:{_OPTIONS}|[a-z-]{{0,30}}pass[a-z]{{0,10}})[ =]+"
        rf"|/p(?:ass)?:)(?:pass:)?{ANY}",
        _is_password,
    ),
    # mongosh -p …, zip -P …: -p is a port or a path elsewhere, so the command counts, and the value has to be no name
    rule(
        "password_option",
        "-p -P -w -W -N -k -K -a -b -A -X",
        rf"[ \t](?:-[pPwWNkKabAX])[ =]?(?:pass:)?{ANY}",
        _is_of_a_login_command,
    ),
    rule("login_option", "%", rf"\s-U[ =]?[\"'\\]{{0,4}}[\w.\\-]+%(?P<value>{VALUE}{{4,500}})", _is_given),
    rule(
        "password_option",
        "sudo chpasswd login passwd kinit secret",
        r"\b(?:echo|printf)\s+(?:-\w\s+)?[\"']?(?:[\w.-]+:)?(?P<value>[^\s\"'`\\|]{6,500})[\"']?\s*\|\s*"
        r"(?:sudo\s+-S|chpasswd|\S*passwd|kinit|docker secret|.{0,60}login)",
        _is_of_a_login,
    ),
    # ~/.pgpass: host:port:database:user:password
    rule(
        "password_line",
        ":*: :54 :64 :33",
        r"(?:^|[\s'\"`+>;,(=\[{|])[\w.*-]+:(?:\d{4,5}|\*):[\w*-]+:[\w.*@-]+:(?P<value>[^\s'\"`:\\]{6,})",
        _is_of_a_login,
    ),
    # /user:jane …, net user jane … /add, rabbitmqctl add_user jane …, AUTH of redis, sudo <<< …
    rule(
        "password_option",
        "/user: /USER: /add add_user change_password AUTH SETUSER <<<",
        r"(?:(?i:\s/user:|\bnet user )\S+|\b(?:(?:add_user|change_password) \S+|AUTH(?: [\w.-]+)?|SETUSER [^\n]{0,60}>|"
        rf"(?:sudo|su|passwd|kinit)\b[^\n]{{0,60}}<<<)) ?{ANY}",
        _is_of_a_login,
    ),
    rule("password_option", "/user: /USER:", rf"(?i)\bnet use\s+\S+\s+\\\\\S+\s+{ANY}\s+/user:", _is_of_a_login),
    rule(
        "login_option", "login=", rf"\blogin=[\"']?(?P<value>{VALUE}{{20,500}})", lambda match: is_key(match["value"])
    ),
    KEYS_OF_PROVIDERS,
    # //host/npm/:_auth = …, SMTP's AUTH PLAIN …, IMAP's LOGIN name "…"
    rule("basic_auth", "_auth", r"\b_auth[\"']?\s*[:=]\s*[\"']?(?P<value>[A-Za-z0-9+/]{8,}={0,2})", _is_a_login),
    rule("basic_auth", "AUTH", r"\bAUTH PLAIN (?P<value>[A-Za-z0-9+/]{12,}={0,2})", _is_a_login),
    rule("login_option", "LOGIN", rf"\bLOGIN [\w.@+-]+ {ANY}", _is_password),
    # user:…@tcp(host:3306)/name, jdbc:oracle:thin:user/…@host
    rule(
        "url_password",
        "@tcp( @unix( @udp(",
        r"[\w.-]+:(?P<value>[^\s:@\"'`]{4,200})@(?:tcp|unix|udp)\(",
        _is_no_placeholder,
    ),
    rule("url_password", "jdbc:oracle:", r"jdbc:oracle:\w+:[\w.-]+/(?P<value>[^\s@/]{4,200})@", _is_no_placeholder),
    # ConvertTo-SecureString "…", new Wallet("…"), encrypt(text, "…")
    rule(
        "login_call",
        "SecureString KeySpec( Wallet( Fernet( SecretBox( crypt( jwt.encode( Sequelize( FTP( .begin(",
        r"(?:SecureString(?: -String)?\s*|(?:KeySpec|Wallet|Fernet|SecretBox)\(\s*|"
        rf"(?:crypt|jwt\.encode|Sequelize|FTP|\.begin)\(\s*(?:[^\s,()]{{1,80}},\s*){{1,2}})[^\s\"',]{{0,20}}?{QUOTED}",
        lambda match: is_chosen(match["quoted"]) or is_key(match["quoted"]),
    ),
    # What a link that opens something has in its path: a hook, a reset, an invitation, a node of a chain
    rule(
        "url_credential",
        "hook reset nvit agic erif onfirm ctivat private- mainnet testnet quiknode",
        r"://(?![^\s\"'<>]{0,200}?/(?:blob|tree|commit)/)[^\s\"'<>]{0,200}?"
        r"(?:hook|reset|invit|magic|verif|confirm|activat|private|mainnet|testnet|quiknode)[\w.-]*/?"
        r"(?:[\w.%@-]{1,40}/){0,4}?(?:private-)?(?P<value>[A-Za-z0-9_-]{10,200})(?![\w-])",
        lambda match: is_key(match["value"]) or (match["value"].isalnum() and is_mixed(match["value"])),
    ),
    rule(
        "seed_phrase",
        "nemonic NEMONIC eed ecovery",
        r"(?i)(?<![a-z])(?:mnemonic|(?:seed|recovery)[ _-]?(?:phrase|words)?)\b(?:\W{1,8}|\W{0,2}\s(?:is|are)\b\W{1,3})"
        r"(?P<value>(?:(?:[a-z]{3,8} ){3}){3,7}(?:[a-z]{3,8} ){2}[a-z]{3,8})(?=[\"'`.]|\s*(?:$|\n))",
    ),
    rule(
        "url_credential",
        "?key= &key= ?sig= &sig= ?code= &code= ?auth= &auth= ?appid= &appid= ignature=",
        rf"[?&](?:key|sig|code|auth|appid|(?:[Xx]-[A-Za-z]+-)?[Ss]ignature)=(?P<value>{VALUE}{{10,500}})",
        _is_token,
    ),
)
