"""Secrets in every shape that came up, drawn from a seed: what is planted, as what text, and whether it is promised."""

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from tests.builders.provider_keys import BOTH, HEX, KEYS, LOWER, UPPER, UUID, a_provider_key, a_word

Draw = Callable[[random.Random], str]
FULL_WIDTH: Final = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


@dataclass(frozen=True)
class Shape:
    """`secret` draws what must not be found, `around` the text it stands in; `promised` as docs/recording.md has it.

    `held`: the process works with these keys itself.
    """

    name: str
    secret: Draw
    around: Callable[[str], str]
    promised: bool = True
    held: bool = False


def a_token(dice: random.Random) -> str:
    """A key without a prefix: only what names it, and that it has digits, gives it away."""
    alphabet, length = dice.choice(((HEX, 32), (HEX, 64), (LOWER, 32), (BOTH, 24), (BOTH, 40), (UUID, 36)))
    return a_word(alphabet, length, dice) + ("" if alphabet == UUID else dice.choice(string.digits))


def a_password(dice: random.Random) -> str:
    """Letters and digits mixed, with a mark at its end: what people think of."""
    word = dice.choices(string.ascii_letters, k=5) + dice.choices(string.digits, k=2) + dice.choices(LOWER, k=3)
    return "".join(word) + dice.choice(("!", "%", "", "x"))


def a_published_key(dice: random.Random) -> str:
    return a_provider_key(dice.choice(sorted(KEYS)), dice)


def a_github_token(dice: random.Random) -> str:
    return a_provider_key("github_token", dice)


def a_name(dice: random.Random) -> str:
    return "".join(dice.choices(string.ascii_lowercase, k=7))


def an_address(dice: random.Random) -> str:
    return f"{a_name(dice)}.{a_name(dice)}@{a_name(dice)}.com"


def letters(dice: random.Random) -> str:
    return "".join(dice.choices(string.ascii_lowercase, k=10))


def a_phrase(dice: random.Random) -> str:
    return " ".join(a_name(dice) for _ in range(12))


def words_and_a_number(dice: random.Random) -> str:
    return f"{a_name(dice)}-{a_name(dice)}-{dice.randint(100, 999)}"


def a_login(dice: random.Random) -> str:
    """A name and a password in base64, without padding."""
    return base64.b64encode(f"job:{a_password(dice)}7".ljust(18, "x").encode()).decode()


def a_sasl_login(dice: random.Random) -> str:
    return base64.b64encode(f"\0job\0{a_password(dice)}7".encode()).decode()


def quoted(text: str, depth: int) -> str:
    """JSON in JSON in JSON, after a word of prose."""
    for _ in range(depth):
        text = json.dumps(text)[1:-1]
    return f"it said {text} and stopped"


def escaped(secret: str) -> str:
    return "Result: " + "".join(f"\\u{ord(character):04x}" for character in secret)


def dumped(secret: str) -> str:
    """As `hexdump -C` prints it."""
    raw = secret.encode()
    rows = ((place, raw[place : place + 16]) for place in range(0, len(raw), 16))
    return "\n".join(f"{place:08x}  {row.hex(' '):<47}  |{row.decode()}|" for place, row in rows)


NAMED: Final = (
    Shape("Authorization: Token", a_token, "Authorization: Token {}".format),
    Shape("Authorization: Bearer", a_token, "-H 'Authorization: Bearer {}'".format),
    Shape("X-Api-Key:", a_token, "X-Api-Key: {}".format),
    Shape("token:", a_token, "my token: {} is old".format),
    Shape("TOKEN=", a_token, "export CI_TOKEN={}".format),
    Shape("?key=", a_token, "GET https://api.invalid/v1?key={}&page=2".format),
    Shape("private_key=", a_token, "private_key={}".format),
    Shape('"api_key": "…" in prose', a_token, 'body was {{"api_key": "{}"}} then'.format),
    Shape("client_secret:", a_token, "client_secret: '{}'".format),
    Shape("a member of JSON", a_password, lambda secret: json.dumps({"user": "jane", "password": secret})),
    Shape("password=", a_password, "password={} was refused".format),
    Shape('"password": "…" in prose', a_password, 'sent {{"password": "{}"}}'.format),
    Shape("escaped JSON, once", a_password, lambda secret: quoted(f'{{"password": "{secret}"}}', 1)),
    Shape("escaped JSON, thrice", a_password, lambda secret: quoted(f'{{"password": "{secret}"}}', 3)),
    Shape("DB_PASS=", a_password, "DB_PASS={}".format),
    Shape("PGPASSWORD=", a_password, "PGPASSWORD={} psql -h db".format),
    Shape("--password", a_password, "tool --user jane --password {} run".format),
    Shape("mysql -p", a_password, "mysql -u root -p{} shop".format),
    Shape("sshpass -p", a_password, "sshpass -p {} ssh jane@host.invalid".format),
    Shape("redis-cli -a", a_password, "redis-cli -h cache -a {} ping".format),
    Shape("curl -u", a_password, "curl -s -u jane:{} https://x.invalid/".format),
    Shape("JDBC", a_password, "jdbc:mysql://h/d?user=a&password={}&ssl=1".format),
    Shape("connection string", a_password, "Server=db;Database=d;User=a;Password={};".format),
    Shape("userinfo of a URL", a_password, "postgres://jane:{}@db.invalid/shop".format),
    Shape("a token as userinfo", a_token, "git clone https://{}@code.invalid/x.git".format),
)
SPELLED: Final = (
    Shape("a provider's key, bare", a_published_key, "{}".format),
    Shape("a provider's key, in prose", a_published_key, "it answered {} and left".format),
    Shape("a token glued to a letter", a_github_token, "x{}".format),
    Shape("every character percent-encoded", a_github_token, lambda s: "".join(f"%{ord(each):02X}" for each in s)),
    Shape("percent-encoded in a URL", a_password, lambda s: f"https://x.invalid/?user=a&password={quote(s, safe='')}"),
    Shape("escapes in prose", a_github_token, escaped),
    Shape("full width", a_github_token, lambda secret: secret.translate(FULL_WIDTH)),
    Shape("zero-width characters in it", a_github_token, "\u200b".join),
    Shape("hex", a_github_token, lambda secret: secret.encode().hex()),
    Shape("base64", a_github_token, lambda secret: base64.b64encode(secret.encode()).decode()),
    Shape("base64url", a_github_token, lambda secret: base64.urlsafe_b64encode(f"k={secret}".encode()).decode()),
    Shape("private key in PEM", lambda dice: a_word(BOTH, 64, dice), "-----BEGIN RSA PRIVATE KEY-----\n{}\n".format),
    Shape("a mail address", an_address, "write to {} please".format),
    Shape("an address of another script", lambda dice: f"jäne.{a_name(dice)}@bücher-{a_name(dice)}.de", "to {}".format),
    Shape("an address with a quoted name", lambda dice: f'"{a_name(dice)} doe"@{a_name(dice)}.com', "to {}".format),
    Shape("an address, percent-encoded", an_address, lambda secret: quote(secret, safe="")),
)
IN_A_SYNTAX: Final = (
    Shape("Maven <password>", a_password, "<server><id>x</id><password>{}</password></server>".format),
    Shape("an attribute of XML", a_token, '<add key="ApiKey" value="{}" />'.format),
    Shape("ENV of a Dockerfile", a_token, "ENV API_KEY {}".format),
    Shape("netrc", a_password, "machine git.invalid login jane password {}".format),
    Shape("IDENTIFIED BY", a_password, "CREATE USER jane IDENTIFIED BY '{}';".format),
    Shape("WITH PASSWORD", a_password, "CREATE ROLE jane WITH LOGIN PASSWORD '{}';".format),
    Shape("YAML, value on the next line", a_token, "service:\n  api_key:\n    {}\n  port: 1".format),
    Shape("YAML, a block", a_password, "db_password: |-\n  {}\nport: 1".format),
    Shape("JSON, value on the next line", a_token, '{{\n  "token":\n    "{}"\n}}'.format),
    Shape("name and value of a container", a_token, "env:\n- name: API_KEY\n  value: {}".format),
    Shape("a variable of Terraform", a_password, 'variable "db_password" {{\n  default = "{}"\n}}'.format),
    Shape("a table", a_password, "| host | password |\n|---|---|\n| db.invalid | {} |".format),
    Shape("CSV", a_password, "id,password,role\n1,{},admin".format),
    Shape("pgpass", a_password, "db.invalid:5432:shop:jane:{}".format),
    Shape("a call with a password", a_password, 'new NetworkCredential("jane", "{}")'.format),
    Shape("a setter", a_password, 'config.setPassword("{}");'.format),
    Shape("define() of PHP", a_password, "define('DB_PASSWORD', '{}');".format),
    Shape("docker login -p", a_password, "docker login -u jane -p {} registry.invalid".format),
    Shape("token is", a_token, "the token is {} by the way".format),
    Shape("Password for bob:", a_password, "Password for bob: {}".format),
    Shape("Passwort lautet", a_password, "Das Passwort lautet {}".format),
    Shape("log in as", a_password, "log in at https://x.invalid/ as jane / {}".format),
    Shape("Digest", lambda dice: a_word(HEX, 32, dice), 'Authorization: Digest username="j", response="{}"'.format),
    Shape("a seed of one-time passwords", lambda dice: a_word(UPPER, 31, dice) + "7", 'pyotp.TOTP("{}")'.format),
    Shape("a UUID beside a name", lambda dice: a_word(UUID, 36, dice), "client secret: {}".format),
    Shape("hex beside the name of a provider", lambda dice: a_word(HEX, 32, dice), "datadog: {}".format),
    Shape("letters and digits beside a name", lambda dice: a_word(LOWER, 31, dice) + "7", "deploy token - {}".format),
)
IN_A_PROTOCOL: Final = (
    Shape("words and a number as a literal", words_and_a_number, 'password: "{}"'.format),
    Shape("words and a number in a call", words_and_a_number, "Config(username=job, password={}, size=3)".format),
    Shape("a Go data source", a_password, "dsn=job:{}@tcp(db.invalid:3306)/orders".format),
    Shape("a login in a JDBC URL", a_password, 'open("jdbc:oracle:thin:job/{}@db.invalid:1521/main")'.format),
    Shape("npm's _auth", a_login, "//npm.invalid/all/:_auth = {}".format),
    Shape("SMTP's AUTH PLAIN", a_sasl_login, "C: AUTH PLAIN {}".format),
    Shape("IMAP's LOGIN", a_password, 'A001 LOGIN job "{}"'.format),
    Shape("psexec -p", a_password, "psexec \\\\host -u job -p {} cmd.exe".format),
    Shape("a wallet's words by name", a_phrase, 'accounts: {{ mnemonic: "{}" }}'.format),
    Shape("a password in HTML cells", a_password, "<tr><td>Password</td><td><code>{}</code></td></tr>".format),
    Shape("chpasswd", a_password, "echo 'job:{},08' | chpasswd".format),
)
IN_A_COMMAND: Final = (
    Shape("net user", a_password, "net user jane {} /add".format),
    Shape("rabbitmqctl add_user", a_password, "rabbitmqctl add_user jane {}".format),
    Shape("lftp -u", a_password, "lftp -u jane,{} ftp.invalid".format),
    Shape("-storepass of any command", a_password, "signer -keystore k.jks -storepass {} app.jar".format),
    Shape("xfreerdp /p:", a_password, "xfreerdp /u:jane /p:{} /v:host".format),
    Shape("AUTH of redis", a_password, "AUTH jane {}".format),
    Shape("sudo with a here-string", a_password, 'sudo -S <<< "{}" reboot'.format),
    Shape("a login of a directive", words_and_a_number, "stats auth jane:{}".format),
    Shape("password 0 of a router", words_and_a_number, "username jane privilege 15 password 0 {}".format),
)
IN_CODE: Final = (
    Shape("a typed constant", a_token, 'const TOKEN: &str = "{}";'.format),
    Shape("a typed default", a_token, 'api_key: str = "{}"'.format),
    Shape("instead of a variable", words_and_a_number, "process.env.JWT_SECRET || '{}'".format),
    Shape("a call without brackets", a_password, "req.basic_auth 'jane', '{}'".format),
    Shape("a call in a call", a_password, '.basic_auth("jane", Some("{}"))'.format),
    Shape("a secure string", a_password, "ConvertTo-SecureString -String '{}' -AsPlainText".format),
    Shape("typed into a field", a_password, "get('[name=password]').type('{}')".format),
    Shape("the key of an encryption", words_and_a_number, 'AES.encrypt(text, "{}")'.format),
    Shape("the key of a wallet", lambda dice: "0x" + a_word(HEX, 64, dice), 'new Wallet("{}")'.format),
    Shape("XML in XML", a_password, "<Password>\n  <Value>{}</Value>\n</Password>".format),
    Shape("a tag of YAML", a_password, "password: !str {}".format),
    Shape("a name that ends in key", lambda dice: a_word(HEX, 32, dice), "WEATHER_KEY={}".format),
)
IN_PROSE: Final = (
    Shape("bold, then code", a_password, "- **Password:** `{}`".format),
    Shape("as password", words_and_a_number, "use {} as the new password".format),
    Shape("creds are", words_and_a_number, "creds are jane:{}".format),
    Shape("in a fence", a_token, "here is the secret:\n\n```\n{}\n```".format),
    Shape("contraseña:", a_password, "contraseña: {}".format),
    Shape("비밀번호는", a_password, "비밀번호는 {} 입니다".format),
    Shape("パスワードは「…」", a_password, "パスワードは「{}」です".format),
    Shape("mdp", words_and_a_number, "identifiant jane, mdp {}".format),
    Shape("lösenordet är", a_password, "lösenordet är {}".format),
    Shape("a wallet's words in a sentence", a_phrase, "my seed phrase is: {}".format),
)
IN_A_LINK: Final = (
    Shape("a reset", lambda dice: a_word(HEX, 64, dice), "https://x.invalid/reset-password/{}".format),
    Shape("a hook", lambda dice: a_word(LOWER, 25, dice) + "7", "https://x.invalid/hooks/{}".format),
    Shape("a node of a chain", lambda dice: a_word(HEX, 32, dice), "https://mainnet.infura.io/v3/{}".format),
    Shape("a private calendar", lambda dice: a_word(HEX, 32, dice), "https://x.invalid/ical/private-{}/a.ics".format),
)
ENCODED: Final = (
    Shape("HTML entities", a_github_token, lambda secret: "".join(f"&#{ord(each)};" for each in secret)),
    Shape("hex entities", a_github_token, lambda secret: "".join(f"&#x{ord(each):x};" for each in secret)),
    Shape("escapes of bytes", a_github_token, lambda secret: "".join(f"\\x{ord(each):02x}" for each in secret)),
    Shape("octal escapes", a_github_token, lambda secret: "".join(f"\\{ord(each):03o}" for each in secret)),
    Shape("quoted-printable", a_password, lambda secret: f"password=3D{secret[:4]}=\n{secret[4:]}"),
    Shape("spaced hex", a_github_token, lambda secret: secret.encode().hex(" ")),
    Shape("a dump", a_github_token, dumped),
    Shape("base64 with a line break", a_github_token, lambda s: base64.b64encode(f"{s}\n".encode()).decode()),
    Shape("entities in escapes", a_github_token, lambda s: escaped("".join(f"&#{ord(each)};" for each in s))),
)
NOT_PROMISED: Final = (
    Shape("bare hex, as a digest is", lambda dice: a_word(HEX, 32, dice), "{}".format, promised=False),
    Shape("a password of letters", letters, "password: {}".format, promised=False),
    Shape("words to restore a wallet", a_phrase, "{}".format, promised=False),
    Shape("in capitals throughout", a_github_token, str.upper, promised=False),
    Shape("folded over two lines", a_github_token, lambda s: f"{s[:18]}\n  {s[18:]}", promised=False),
    Shape("a list of numbers", a_github_token, lambda s: json.dumps([ord(each) for each in s]), promised=False),
    Shape("split over two members", a_password, lambda s: json.dumps({"a": s[:6], "b": s[6:]}), promised=False),
)
IN_USE: Final = (
    Shape("a key in use, any word", letters, "Incorrect API key: {}".format, held=True),
    Shape("a key in use, in hex", letters, lambda secret: secret.encode().hex(), held=True),
    Shape("a key in use, backwards", letters, lambda secret: secret[::-1], held=True),
)
PROMISED: Final = (
    *NAMED, *SPELLED, *IN_A_SYNTAX, *IN_A_PROTOCOL, *IN_A_COMMAND, *IN_CODE, *IN_PROSE, *IN_A_LINK, *ENCODED
)  # fmt: skip
SHAPES: Final = (*PROMISED, *IN_USE, *NOT_PROMISED)
