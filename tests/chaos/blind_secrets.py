# The author of this generator had not read the rules in `triage/secrecy`: it measures them from outside.
# Do not change it to fit the rules; mend only what is wrong with the generator itself.
"""Blind test corpus for a secrets scanner: `corpus(seed)` gives texts with one planted secret and harmless ones.

The tables below are written in a small template language. A line `@kind lang maker NAME ::` opens a kind; what
follows are its templates with ` § ` between; ` ;; ` stands for the end of a row. In a template `¶` is a line break, `«S»`
the secret, `«word»` a random entry of the list of that name, `«a|b»` a choice, `«function:text»` a random or encoded
value; inner marks are filled first. `(lang)` before a template overrides the kind's language, which only decides what
may stand around the text; `!` after the language keeps the text out of JSON bodies and diffs. A kind with a NAME also gets the
general vendor templates. All values are random: none of them ever opened anything.
"""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
import sys
import urllib.parse
import uuid
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, HEX, B32 = DIGITS + UPPER + LOWER, "0123456789abcdef", UPPER + "234567"
URLSAFE, CRYPT = ALNUM + "-_", ALNUM + "./"


@dataclass(frozen=True)
class Sample:
    """One text of the corpus; `secret` is the planted secret before any encoding, "" for a harmless text."""

    kind: str
    text: str
    secret: str


Kind = tuple[str, str, str, list[str]]  # default language, maker of the secret, telling names, templates


def _chars(r: Random, n: int, alphabet: str = ALNUM) -> str:
    return "".join(r.choices(alphabet, k=n))


def _b64(r: Random, n: int, head: bytes = b"") -> str:
    return base64.b64encode(head + r.randbytes(n)).decode()


def _b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _uuid(r: Random) -> str:
    return str(uuid.UUID(int=r.getrandbits(128), version=4))


def _password(r: Random, punct: str = "!#%*+-_.=@^~", base64_too: bool = True) -> str:
    """A password as people and generators make them: 8 to 40 characters, begins with a letter or digit."""
    style = r.randrange(8 if base64_too else 7)
    if style < 3:
        body = [r.choice(LOWER), r.choice(UPPER), r.choice(DIGITS), r.choice(punct), r.choice(punct)]
        body += r.choices(ALNUM + punct, k=r.randint(3, 13))
        r.shuffle(body)
        return r.choice(ALNUM) + "".join(body) + r.choice(ALNUM)
    if style < 5:
        one, two = r.sample(WORDS, 2)
        sep, number = r.choice("-_.") if r.random() < 0.6 else "", _chars(r, r.randint(2, 4), "23456789")
        if r.random() < 0.3:
            two = two.translate(str.maketrans("aeio", "4310"))
        return f"{one.title()}{sep}{two}{number}" + (r.choice(sorted(set(punct) & set("!*#@-$"))) if r.random() < 0.6 else "")
    if style == 5:
        return _chars(r, r.choice((32, 32, 40)), HEX)
    return _chars(r, r.randint(14, 24), LOWER + DIGITS) if style == 6 else _b64(r, r.choice((13, 16, 20)))


def _key(r: Random) -> str:
    """A key of no known vendor: hex, UUID, base64, letters and digits, or with a house prefix."""
    return r.choice([
        _chars(r, r.choice((32, 40, 64)), HEX), _uuid(r), _b64(r, r.choice((23, 32, 40))), _chars(r, r.randint(28, 44)),
        _chars(r, r.randint(24, 36), LOWER + DIGITS), r.choice(WORDS) + r.choice(("_live_", "-", "_sk_")) + _chars(r, 32),
    ])  # fmt: skip


def _checked(r: Random, head: str) -> str:
    """Token with the base-62 CRC32 ending that GitHub and npm document."""
    body, tail = _chars(r, 30), ""
    crc = zlib.crc32(body.encode())
    while crc or len(tail) < 6:
        crc, rest = divmod(crc, 62)
        tail = ALNUM[rest] + tail
    return head + body + tail


def _jwt(r: Random) -> str:
    head = {"alg": r.choice(("HS256", "RS256")), "typ": "JWT"}
    body = {"sub": str(r.randint(1000, 10**9)), "name": r.choice(WORDS), "iat": (t := r.randint(16 * 10**8, 18 * 10**8)), "exp": t + 3600}
    parts = [_b64url(json.dumps(p, separators=(",", ":")).encode()) for p in (head, body)]
    return ".".join([*parts, _b64url(r.randbytes(256 if head["alg"] == "RS256" else 32))])


def _block(label: str, body: str, width: int = 64) -> str:
    lines = [body[i : i + width] for i in range(0, len(body), width)]
    return "\n".join(["-----BEGIN " + label + "-----", *lines, "-----END " + label + "-----"])


def _pem(r: Random) -> str:
    label, head, size, width = r.choice([
        ("RSA ", "308204a40201000282010100", 1180, 64), ("RSA ", "3082025c02010002818100", 597, 64), ("EC ", "30770201010420", 114, 64), ("", "302e020100300506032b657004220420", 32, 64),
        ("", "30820276020100300d06092a864886f70d0101010500048202603082025c02010002818100", 597, 64),
        ("OPENSSH ", b"openssh-key-v1\0".hex() + "000000046e6f6e65000000046e6f6e650000000000000001000000330000000b7373682d65643235353139", 200, 70),
    ])  # fmt: skip
    return _block(label + "PRIVATE" + " KEY", _b64(r, size, bytes.fromhex(head)), width)


def _xxd(text: str) -> str:
    data, rows = text.encode(), []
    for i in range(0, len(data), 16):
        part = data[i : i + 16]
        pairs = " ".join(part[k : k + 2].hex() for k in range(0, len(part), 2))
        rows.append(f"{i:08x}: {pairs:<39}  " + "".join(chr(c) if 32 <= c < 127 else "." for c in part))
    return "\n".join(rows)


def _soft(text: str) -> str:
    units = ["=3D" if c == "=" else c for c in text]
    return "".join(units[: len(units) // 2]) + "=\n" + "".join(units[len(units) // 2 :])


def _mangled(r: Random, rust: bool) -> str:
    names = ["".join(w if i == 0 else w.title() for i, w in enumerate(r.sample(WORDS, r.randint(1, 2)))) for _ in range(r.randint(2, 4))]
    body = "_ZN" + "".join(f"{len(n)}{n}" for n in names)
    return body + ("17h" + _chars(r, 16, HEX) + "E" if rust else r.choice(("E", "C2ERKSs", "EvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")))


MAKERS: dict[str, Callable[[Random], str]] = {
    "pw": _password, "key": _key, "jwt": _jwt, "pem": _pem, "uuid": _uuid,
    "pwurl": lambda r: _password(r, "-_.!*~+", False), "pwsh": lambda r: _password(r, "-_.+=@%^"),
    "pwsym": lambda r: r.choice(WORDS).title() + r.choice("=@#") + _password(r, "=@#$%&+!", False) + r.choice("=!#"),
    "pwx": lambda r: r.choice(WORDS).title() + r.choice("&<$") + _password(r, "&<>$!#-_", False),
    "hexkey": lambda r: _chars(r, r.choice((32, 40, 64)), HEX), "hex32": lambda r: _chars(r, 32, HEX), "hex64": lambda r: _chars(r, 64, HEX),
    "lowkey": lambda r: _chars(r, r.randint(20, 36), LOWER + DIGITS), "b64key": lambda r: _b64(r, 32),
    "hash": lambda r: r.choice(["$2y$" + "10$" + _chars(r, 53, CRYPT), "$apr" + "1$" + _chars(r, 8, CRYPT) + "$" + _chars(r, 22, CRYPT), "$6$" + _chars(r, 16, CRYPT) + "$" + _chars(r, 86, CRYPT)]),
    "azkey": lambda r: _b64(r, 64), "awssecret": lambda r: _b64(r, 30), "totp": lambda r: _chars(r, r.choice((16, 26, 32)), B32),
    "ghp": lambda r: _checked(r, "gh" + "p_"), "ghapp": lambda r: _checked(r, "gh" + r.choice(("s_", "o_", "u_"))),
    "ghfine": lambda r: "github" + "_pat_" + "11" + _chars(r, 20, UPPER + DIGITS) + "_" + _chars(r, 59),
    "gitlab": lambda r: "gl" + r.choice(("pat-", "rt-", "dt-")) + _chars(r, 20, URLSAFE),
    "slack": lambda r: "xo" + r.choice(("xb-", "xp-")) + _chars(r, 12, DIGITS) + "-" + _chars(r, 13, DIGITS) + "-" + _chars(r, 24),
    "slackapp": lambda r: "xa" + "pp-1-A0" + _chars(r, 9, UPPER + DIGITS) + "-" + _chars(r, 13, DIGITS) + "-" + _chars(r, 64, HEX),
    "slackhook": lambda r: _chars(r, 24), "discordhook": lambda r: _chars(r, 68, URLSAFE),
    "stripe": lambda r: r.choice(("s", "r")) + "k_li" + "ve_" + r.choice((_chars(r, 24), "51" + _chars(r, 97))), "whsec": lambda r: "wh" + "sec_" + _chars(r, 32),
    "google": lambda r: "AI" + "za" + "Sy" + _chars(r, 33, URLSAFE), "gocspx": lambda r: "GOC" + "SPX-" + _chars(r, 28, URLSAFE),
    "npm": lambda r: _checked(r, "np" + "m_"), "pypi": lambda r: "py" + "pi-" + "AgEIcHlwaS5vcmc" + _chars(r, 160, URLSAFE),
    "openai": lambda r: "s" + "k-" + r.choice((_chars(r, 20) + "T3Blbk" + "FJ" + _chars(r, 20), "proj-" + _chars(r, 74, URLSAFE) + "T3Blbk" + "FJ" + _chars(r, 74, URLSAFE))),
    "anthropic": lambda r: "s" + "k-a" + "nt-api03-" + _chars(r, 93, URLSAFE) + "AA",
    "sendgrid": lambda r: "S" + "G." + _chars(r, 22, URLSAFE) + "." + _chars(r, 43, URLSAFE), "telegram": lambda r: _chars(r, 10, "123456789") + ":AA" + _chars(r, 33, URLSAFE),
    "discord": lambda r: _b64url(_chars(r, 18, "123456789").encode()) + "." + "G" + _chars(r, 5, URLSAFE) + "." + _chars(r, 38, URLSAFE),
    "digitalocean": lambda r: "do" + r.choice(("p", "o")) + "_v1_" + _chars(r, 64, HEX), "vault": lambda r: "hv" + "s." + r.choice((_chars(r, 24), "CAES" + "I" + _chars(r, 90, URLSAFE))),
    "databricks": lambda r: "da" + "pi" + _chars(r, 32, HEX), "hf": lambda r: "h" + "f_" + _chars(r, 34, UPPER + LOWER), "shopify": lambda r: "sh" + r.choice(("pat_", "pss_")) + _chars(r, 32, HEX),
    "docker": lambda r: "dckr" + "_pat_" + _chars(r, 27, URLSAFE), "notion": lambda r: "nt" + "n_" + _chars(r, 11, DIGITS) + _chars(r, 35), "linear": lambda r: "lin" + "_api_" + _chars(r, 40),
    "mailgun": lambda r: "ke" + "y-" + _chars(r, 32, HEX), "grafana": lambda r: "gl" + "sa_" + _chars(r, 32) + "_" + _chars(r, 8, HEX), "newrelic": lambda r: "NR" + "AK-" + _chars(r, 27, UPPER + DIGITS),
    "age": lambda r: "AGE-SEC" + "RET-KEY-1" + _chars(r, 58, "QPZRY9X8GF2TVDW0" + "S3JN54KHCE6MUA7L"),
}  # fmt: skip

FUNCS: dict[str, Callable[[Random, str], str]] = {
    "hex": lambda r, a: _chars(r, int(a), HEX), "hexu": lambda r, a: _chars(r, int(a), HEX.upper()), "aln": lambda r, a: _chars(r, int(a)), "lod": lambda r, a: _chars(r, int(a), LOWER + DIGITS),
    "b32": lambda r, a: _chars(r, int(a), "0123456789ABCDEFGHJKMNPQRSTVWXYZ"), "rb": lambda r, a: _b64(r, int(a)), "ru": lambda r, a: _chars(r, int(a), URLSAFE), "num": lambda r, a: _chars(r, int(a), "123456789"),
    "akid": lambda r, a: "AK" + "IA" + _chars(r, 16, B32), "uuid": lambda r, a: _uuid(r), "word": lambda r, a: r.choice(WORDS), "x": lambda r, a: "x" * int(a), "sym": lambda r, a: _mangled(r, a == "rust"),
    "cert": lambda r, a: _block(a, _b64(r, r.randint(420, 800), bytes.fromhex("308203a730820290a00302010202141f"))) if a == "CERTIFICATE" else _block(a, _b64(r, 270, bytes.fromhex("30820122300d06092a864886f70d01010105000382010f003082010a0282010100"))),
    "ed": lambda r, a: "ssh-ed25519 " + _b64(r, 32, b"\0\0\0\x0bssh-ed25519\0\0\0 "), "rsa": lambda r, a: "ssh-rsa " + _b64(r, 257, b"\0\0\0\x07ssh-rsa\0\0\0\x03\x01\0\1\0\0\1\1\0"),
    "png": lambda r, a: _b64(r, int(a), bytes.fromhex("89504e470d0a1a0a0000000d49484452000000100000001008060000001ff3ff61")), "xxd": lambda r, a: _xxd(a), "b64e": lambda r, a: base64.b64encode(a.encode()).decode(),
    "fp": lambda r, a: "SHA256:" + _b64(r, 32).rstrip("="), "url": lambda r, a: urllib.parse.quote(a, safe=""), "pct": lambda r, a: "".join(f"%{b:02X}" for b in a.encode()), "xml": lambda r, a: html.escape(a),
    "html": lambda r, a: "".join(f"&#x{ord(c):x};" for c in a) if r.random() < 0.5 else "".join(f"&#{ord(c)};" for c in a), "xhex": lambda r, a: "".join(f"\\x{b:02x}" for b in a.encode()),
    "oct": lambda r, a: "".join(f"\\{b:03o}" for b in a.encode()), "uni": lambda r, a: "".join(f"\\u{ord(c):04x}" for c in a), "qp": lambda r, a: "".join(c if c in ALNUM + " ,\n:." else "".join(f"={b:02X}" for b in c.encode()) for c in a),
    "soft": lambda r, a: _soft(a), "spaced": lambda r, a: a.encode().hex(" "),
    "ind": lambda r, a: a.replace("\n", "\n    "), "nl": lambda r, a: a.replace("\n", "\\n"), "up": lambda r, a: a.upper(), "lc": lambda r, a: a.lower(), "dash": lambda r, a: a.lower().replace("_", "-"),
    "camel": lambda r, a: re.sub(r"_(\w)", lambda m: m[1].upper(), a.lower()), "pascal": lambda r, a: "".join(w.title() for w in a.split("_")), "int": lambda r, a: str(r.randint(*map(int, a.split("-")))),
    "cut": lambda r, a: "\n".join(a[i : i + 76] for i in range(0, len(a), 76)), "list": lambda r, a: ", ".join(str(r.randint(3, 50000)) for _ in range(int(a))),
}  # fmt: skip

LISTS_TABLE = r"""
word: amber § anchor § basalt § birch § copper § falcon § garnet § harbor § indigo § juniper § kestrel § lantern § maple § nickel § onyx § otter § pepper § quartz § raven § saffron § timber § umbra § velvet § walnut § willow § zephyr § sommer § winter § berlin § hamburg § sakura § osaka § toledo
user: anna § bob § kmueller § j.tanaka § svc_deploy § mgarcia § lena § ci-bot § ops § postgres § admin § app_rw § reporting § elena.rossi ;; org: acme § northwind § hanse-digital § blueharbor § initech § tanakaworks § contoso-labs ;; repo: billing-api § web-frontend § infra § data-pipeline § mobile-app § charts § shopfront § edge-proxy
stamp: 2024-{m:02}-{d:02}T{h:02}:{n:02}:{s:02}.{f:03}Z § {d:02}/Mar/2025:{h:02}:{n:02}:{s:02} +0100 § [{h:02}:{n:02}:{s:02}.{f:03}] § 2025-{m:02}-{d:02} {h:02}:{n:02}:{s:02},{f:03} § Jan {d} {h:02}:{n:02}:{s:02} ;; svc: payments § accounts § mailer § ingest § scheduler § gateway § search § inventory
dom: northwind.io § acme-tools.com § hanse-digital.de § blueharbor.net § tanakaworks.jp § initech.dev ;; host: db01.«dom» § «svc».«dom» § 10.«int:0-40».«int:1-250».«int:2-250» § «svc»-prod.internal § staging.«dom» § nas.local ;; db: billing § shop_prod § analytics § users § app § wiki § metrics ;; port: 5432 § 8080 § 3306 § 6379 § 8443 § 9092 § 3000
region: eu-central-1 § us-east-1 § ap-northeast-1 § eu-west-3 ;; date: 202«int:3-6»-0«int:1-9»-«int:10-28» ;; ver: «int:0-9».«int:0-30».«int:0-12» § v«int:1-6».«int:0-20».«int:0-9» § «int:1-4».«int:0-9».0-rc.«int:1-5» ;; path: /srv/«svc»/current § /home/«user»/«repo» § /opt/«org»/etc § C:\Users\«user»\source\«repo» § /var/www/«dom»
file: config.old § app.conf § settings.local § notes.txt § «svc».yaml § .env.production § deploy.sh ;; pwn: db_password § password § smtp_password § admin_password § redis_password § mail_passwd § ldap_bind_password § user_pwd § keystore_password
keyn: api_key § client_secret § access_token § auth_token § secret_key § jwt_secret § encryption_key § signing_secret § webhook_secret § «svc»_api_key ;; env: LOG_LEVEL=«info|debug|warn» § PORT=«port» § NODE_ENV=production § APP_URL=https://«svc».«dom» § TZ=Europe/Berlin § # managed by «user», see wiki § CACHE_TTL=«int:60-9000» § DB_NAME=«db» § FEATURE_NEW_CHECKOUT=«true|false»
yml: replicas: «int:1-9» § log_level: debug § region: «region» § timeout: «int:5-90»s § image: «org»/«svc»:«ver» § enabled: true § # «date» «user»: do not edit by hand
logline: «ts» INFO  «svc» request_id=«uuid:» status=200 duration=«int:3-900»ms § «ts» DEBUG [worker-«int:1-16»] cache miss for order «num:7» § «ts» WARN retry «int:1-5»/5 after timeout to «host»:«port» § «ts» «svc»[«int:300-9000»]: started in «int:1-9».«int:1-9»s (commit «hex:7») § «ts» [info] 10.0.«int:0-9».«int:2-250» - "GET /health HTTP/1.1" 200 15 § «ts» ERROR connection reset by peer (attempt «int:1-9»)
lines: «logline»¶«logline»¶«logline»¶«logline»
note: This started after upgrading to «ver». § I can reproduce it on two machines, not in CI. § Any idea what is going on here? § Works with the old release though. § Same here, on Ubuntu 22.04 and macOS. § See also #«int:12-4900». § Bei uns tritt das seit dem Update auf «ver» auf. § 本番環境でも同じ現象が発生しています。 § Con la versión anterior funcionaba sin problemas. § cc @«user», can you have a look? § Expected: it starts. Actual: it hangs for 30 s, then exits with code «int:1-137». § Here is the relevant part of my setup:
title: Connection refused since «ver» § «svc»: deploy fails on «region» § Question about the configuration § 401 after restart § Fehler beim Start von «svc» § [Bug] «repo» cannot reach «host» § 起動時にエラーが出る § Document the new settings ;; bye: Thanks, «word:» § Best regards¶«user» § Viele Grüße § Cheers! § よろしくお願いします。
intro: Sure! Here is the updated file: § You can do it like this: § I moved the setting to the top; the rest is unchanged: § Klar, so sollte es gehen: § The problem is in this part: ;; outro: Let me know whether that works. § Restart the service afterwards. § Everything else can stay as it is. § Then run `make «svc»` again.
at: @ ;; fname: logo § icon § hero § avatar § splash § button § arrow-left § product-card ;; ph: <your-token> § <API_KEY> § YOUR_API_KEY_HERE § your-api-key § «x:20» § XXXX-XXXX-XXXX § changeme § REPLACE_ME § ******** § [REDACTED] § ${API_KEY} § {{ api_key }} § $TOKEN § <insert password here> § TODO § %API_TOKEN% § <dein-passwort> § ここにトークン
prose: The harbour was quiet that «summer|winter» morning and nobody expected the ferry before «ten|noon». § Please keep the «blue|green» folder in the cupboard next to the printer on floor «int:2-9». § Unser Büro ist vom 24. bis zum «int:27-31». Dezember geschlossen. § The quick «word:» «word:» jumps over the lazy «word:» again and again. § Thank you for your order number «num:6», it will be shipped on «date». § La reunión del equipo empieza a las «int:8-17» en la sala «word:».
V: «env»¶«NAME»=«S»¶«env» § (bash)export «NAME»=«S»¶./«deploy|run|release».sh --env «staging|prod» § (yaml)env:¶  «NAME»: "«S»"¶  LOG_LEVEL: debug § (prose)I rotated the old one, the new «NAME» is «S» - «please use that from now on|valid until «date»» § (log)«ts» DEBUG «svc» using «NAME»=«S» § (js)const client = new Client({ token: "«S»", baseUrl: "https://api.«dom»" }); § (json){"«camel:«NAME»»": "«S»", "region": "«region»"} § (bash)curl -s -H "Authorization: Bearer «S»" https://api.«dom»/v1/«svc» § (python)«NAME» = "«S»"  # TODO move to the vault¶TIMEOUT = «int:3-60» § (log)«logline»¶«ts» ERROR 401 from upstream, credential «S» was rejected § (prose)oh no, did I just paste «S» into a public issue? § (yaml)- name: «NAME»¶  value: «S»¶- name: PORT¶  value: "«port»" § (toml)[«svc»]¶«lc:«NAME»» = "«S»"¶retries = «int:1-9» § (go)os.Setenv("«NAME»", "«S»")
around-prose: «T» § «T» § Hi «user»,¶¶«T»¶¶«bye» § «note» «T» § «T»¶¶«note» § ### «title»¶¶«note»¶¶«T» § From: «user»@«dom»¶Subject: «title»¶Date: «date»¶¶«T»¶¶«bye» § **«user»** commented on «date»:¶¶«T» § [«int:10-23»:«int:10-59»] «user»: «T»
around-log: «T» § «logline»¶«T» § «T»¶«logline» § «logline»¶«logline»¶«T»¶«logline» § «note»¶¶```¶«T»¶«logline»¶``` § $ docker logs «svc» --tail 3¶«logline»¶«T» § «title»¶¶«logline»¶«T»¶¶«note» § «lines»¶«T»¶«lines» § <details>¶¶```text¶«lines»¶«lines»¶«T»¶«logline»¶```¶¶</details>
around-code: «T» § «T» § «note»¶¶```«L»¶«T»¶``` § ### «title»¶¶«note»¶¶```«L»¶«T»¶```¶¶«note» § «intro»¶¶```«L»¶«T»¶```¶¶«outro» § <details><summary>«my |»«F»</summary>¶¶```«L»¶«T»¶```¶¶</details> § ==> «path»/«F» <==¶«T» § «note»¶¶~~~¶«T»¶~~~¶«bye» § ### Environment¶¶- «repo» «ver» on Ubuntu 22.04¶- deployed to «region»¶¶### Steps¶¶1. Start «svc»¶2. Open https://«svc».«dom»/¶¶### Configuration¶¶```«L»¶«T»¶```¶¶### Log¶¶```¶«logline»¶«logline»¶```
"""

SECRETS_TABLE = r"""
@github-classic bash ghp GITHUB_TOKEN|GH_TOKEN|GH_PAT :: git clone https://«user»:«S»«at»github.com/«org»/«repo».git § git remote set-url origin https://x-access-token:«S»«at»github.com/«org»/«repo».git¶git push ;; @github-fine-grained bash ghfine GITHUB_TOKEN|GH_PAT :: echo «S» | gh auth login --with-token
@github-app bash ghapp GITHUB_APP_TOKEN|GH_TOKEN :: curl -H "Authorization: token «S»" https://api.github.com/repos/«org»/«repo»/pulls ;; @gitlab bash gitlab GITLAB_TOKEN|CI_DEPLOY_TOKEN :: curl --header "PRIVATE-TOKEN: «S»" "https://gitlab.«dom»/api/v4/projects/«int:3-900»" § git clone https://oauth2:«S»«at»gitlab.«dom»/«org»/«repo».git
@slack-token python slack SLACK_BOT_TOKEN|SLACK_TOKEN :: app = App(token="«S»")¶app.client.chat_postMessage(channel="#«svc»", text="deploy done") ;; @slack-app-token yaml slackapp SLACK_APP_TOKEN ::
@stripe ruby stripe STRIPE_SECRET_KEY|STRIPE_API_KEY :: Stripe.api_key = '«S»'¶Stripe::Charge.create(amount: «int:100-9000», currency: 'eur') § (bash)curl https://api.stripe.com/v1/charges -u «S»: -d amount=«int:100-9000» ;; @stripe-webhook js whsec STRIPE_WEBHOOK_SECRET|STRIPE_ENDPOINT_SECRET :: const event = stripe.webhooks.constructEvent(body, sig, '«S»');
@google-api-key html google GOOGLE_MAPS_API_KEY|GOOGLE_API_KEY :: <script async src="https://maps.googleapis.com/maps/api/js?key=«S»&callback=initMap"></script> § (xml)<meta-data¶    android:name="com.google.android.geo.API_KEY"¶    android:value="«S»" />
@google-oauth json gocspx GOOGLE_CLIENT_SECRET :: {"web": {"client_id": "«num:12»-«lod:32».apps.googleusercontent.com", "client_secret": "«S»", "redirect_uris": ["https://«dom»/cb"]}} ;; @npm ini npm NPM_TOKEN|NODE_AUTH_TOKEN :: //registry.«dom»/:_authToken=«S»¶always-auth=true § @«org»:registry=https://npm.«dom»/¶//npm.«dom»/:_authToken="«S»"
@pypi ini pypi PYPI_TOKEN|TWINE_PASSWORD :: [pypi]¶username = __token__¶password = «S» § (bash)twine upload -u __token__ -p «S» dist/*
@openai python openai OPENAI_API_KEY :: client = OpenAI(api_key="«S»")¶r = client.chat.completions.create(model="gpt-4o", max_tokens=«int:100-4000», messages=msgs) § (log)openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: «S».'}}
@anthropic python anthropic ANTHROPIC_API_KEY :: client = anthropic.Anthropic(api_key='«S»') § (bash)curl https://api.anthropic.com/v1/messages --header "x-api-key: «S»" --header "anthropic-version: 2023-06-01" ;; @sendgrid php sendgrid SENDGRID_API_KEY :: $sendgrid = new \SendGrid('«S»');
@telegram bash telegram TELEGRAM_BOT_TOKEN|BOT_TOKEN :: curl "https://api.telegram.org/bot«S»/sendMessage?chat_id=-100«num:10»&text=ok" § (log)«ts» httpx INFO HTTP Request: POST https://api.telegram.org/bot«S»/getUpdates "HTTP/1.1 409 Conflict" ;; @discord-bot python discord DISCORD_TOKEN|DISCORD_BOT_TOKEN :: bot = commands.Bot(command_prefix="!")¶bot.run("«S»")
@digitalocean bash digitalocean DIGITALOCEAN_TOKEN|DO_API_TOKEN :: doctl auth init -t «S» ;; @vault bash vault VAULT_TOKEN :: $ vault login «S»¶Success! You are now authenticated. § (log)Key                  Value¶---                  -----¶token                «S»¶token_accessor       «aln:24»¶token_policies       ["«svc»"]
@databricks ini databricks DATABRICKS_TOKEN :: [DEFAULT]¶host  = https://adb-«num:16».«int:1-19».azuredatabricks.net¶token = «S» ;; @hugging-face python hf HF_TOKEN|HUGGINGFACE_HUB_TOKEN :: model = AutoModel.from_pretrained("meta-llama/Llama-2-7b-hf", token="«S»") § (bash)huggingface-cli login --token «S»
@shopify js shopify SHOPIFY_ACCESS_TOKEN :: headers: { 'X-Shopify-Access-Token': '«S»', 'Content-Type': 'application/json' } ;; @docker-hub bash docker DOCKERHUB_TOKEN|DOCKER_PASSWORD :: echo "«S»" | docker login -u «org» --password-stdin ;; @saas-token yaml notion NOTION_TOKEN|NOTION_API_KEY :: ;; @linear-token js linear LINEAR_API_KEY ::
@mailgun python mailgun MAILGUN_API_KEY :: requests.post("https://api.mailgun.net/v3/«dom»/messages", auth=("api", "«S»"), data=data) ;; @grafana yaml grafana GRAFANA_SA_TOKEN|GRAFANA_TOKEN :: ;; @newrelic yaml newrelic NEW_RELIC_API_KEY ::
@age-key log age :: # created: «date»T10:«int:10-59»:07+02:00¶# public key: age1«lod:58»¶«S» § (bash)export SOPS_AGE_KEY=«S»¶sops -d «svc».enc.yaml § (prose)Decrypt it with this age identity: «S»
@aws-key-pair dotenv awssecret :: AWS_ACCESS_KEY_ID=«akid:»¶AWS_SECRET_ACCESS_KEY=«S»¶AWS_DEFAULT_REGION=«region» § (ini)[«user»]¶aws_access_key_id = «akid:»¶aws_secret_access_key = «S» § (hcl)provider "aws" {¶  region     = "«region»"¶  access_key = "«akid:»"¶  secret_key = "«S»"¶} § (python)s3 = boto3.client("s3", aws_access_key_id="«akid:»", aws_secret_access_key="«S»") § (json){"AccessKey": {"UserName": "«user»", "AccessKeyId": "«akid:»", "Status": "Active", "SecretAccessKey": "«S»"}}
@twilio js hex32 :: const client = require('twilio')('AC«hex:32»', '«S»'); § (dotenv)TWILIO_ACCOUNT_SID=AC«hex:32»¶TWILIO_AUTH_TOKEN=«S» § (bash)curl -X POST https://api.twilio.com/2010-04-01/Accounts.json -u AC«hex:32»:«S»
@azure-storage dotenv azkey :: AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=«svc»store;AccountKey=«S»;EndpointSuffix=core.windows.net" § (json){"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=«org»;AccountKey=«S»;BlobEndpoint=https://«org».blob.core.windows.net/"} § (bash)az storage blob list --account-name «org»logs --account-key «S» -c «svc»
@azure-sas prose b64key :: Download it here: https://«org»store.blob.core.windows.net/«svc»/dump.gz?sv=2022-11-02&ss=b&srt=co&sp=rl&se=«date»T00:00:00Z&sig=«url:«S»» § (csharp)var client = new BlobClient(new Uri("https://«org».blob.core.windows.net/«db»/a.csv?sp=r&st=«date»T08:00:00Z&sr=b&sig=«url:«S»»")); § (dotenv)EVENTHUB=Endpoint=sb://«org».servicebus.windows.net/;SharedAccessKeyName=RootManage;SharedAccessKey=«S»
@presigned-url log hex64 :: «ts» INFO GET https://«org»-backup.s3.«region».amazonaws.com/«db».sql.gz?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=«akid:»%2F2024«num:4»%2F«region»%2Fs3%2Faws4_request&X-Amz-Expires=604800&X-Amz-Signature=«S» § (bash)curl -o out.zip 'https://storage.googleapis.com/«org»/«repo».zip?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=86400&X-Goog-SignedHeaders=host&X-Goog-Signature=«S»'
@jwt http jwt :: GET /api/«svc»/me HTTP/1.1¶Host: «dom»¶Authorization: Bearer «S» § (json){"access_token": "«S»", "token_type": "bearer", "expires_in": 3600} § (log)«ts» WARN «svc» jwt rejected: signature mismatch: «S» § (js)localStorage.setItem('token', '«S»'); § (prose)jwt.io decodes it fine, but the gateway answers 403: «S»
@pem-block text! pem :: «S» § $ cat ~/.ssh/id_«rsa|ed25519|deploy»¶«S» § «S»¶«ed:» «user»@«host» ;; @pem-in-yaml yaml! pem :: tls:¶  key: |¶    «ind:«S»» § ssh_private_key: |-¶    «ind:«S»»
@pem-one-line json! pem :: {"type": "service_account", "project_id": "«org»-«num:6»", "private_key_id": "«hex:40»", "private_key": "«nl:«S»»\n", "client_email": "«svc»@«org».iam.gserviceaccount.com"} § (dotenv)JWT_PRIVATE_KEY="«nl:«S»»" § (js)const key = '«nl:«S»»';¶jwt.sign(payload, key, { algorithm: 'RS256' });
@postgres-url dotenv pwurl :: «DATABASE_URL|POSTGRES_DSN»=postgres«ql|»://«user»:«S»«at»«host»:5432/«db»?sslmode=require § (python)engine = create_engine("postgresql+psycopg2://«user»:«S»«at»«host»/«db»") § (log)«ts» FATAL could not connect to postgres://«user»:«S»«at»«host»:5432/«db»: timeout § (bash)pg_dump postgresql://«user»:«S»«at»«host»/«db» > «db».sql
@redis-url yaml pwurl :: redis:¶  url: rediss://«default|»:«S»«at»«host»:6379/«int:0-9» § (js)const r = new Redis("redis://:«S»«at»«host»:6379"); § (dotenv)CELERY_BROKER_URL=redis://:«S»«at»«host»:6379/1
@amqp-url log pwurl :: «ts» ERROR kombu: Cannot connect to amqp://«user»:«S»«at»«host»:5672/%2F § (dotenv)RABBITMQ_URL=amqps://«user»:«S»«at»«host»/«db» § (go)conn, err := amqp.Dial("amqp://«user»:«S»«at»«host»:5672/")
@mongodb-url js pwurl :: mongoose.connect("mongodb+srv://«user»:«S»«at»cluster0.«lod:5».mongodb.net/«db»?retryWrites=true&w=majority"); § (log)MongoServerError: bad auth for mongodb+srv://«user»:«S»«at»cluster«int:0-9».«lod:5».mongodb.net § (yaml)spring:¶  data:¶    mongodb:¶      uri: mongodb://«user»:«S»«at»«host»:27017/«db»
@https-basic-url bash pwurl :: wget https://«user»:«S»«at»files.«dom»/«repo»-«ver».tar.gz § (ini)[global]¶index-url = https://«user»:«S»«at»pypi.«dom»/simple § (prose)The nightly build is at https://«user»:«S»«at»«host»/builds/«ver»/ - ask me if it is gone § (yaml)url: ftp://«user»:«S»«at»«host»/upload
@url-escaped-password dotenv pwsym :: DATABASE_URL=mysql://«user»:«url:«S»»«at»«host»:3306/«db» § (log)«ts» ERROR smtp: dial smtps://«user»%40«dom»:«url:«S»»«at»mail.«dom»:465 failed § (python)uri = "mongodb://«user»:«url:«S»»«at»«host»/«db»"
@auth-bearer http key :: POST /v2/«svc» HTTP/1.1¶Host: api.«dom»¶Authorization: Bearer «S»¶Content-Length: «int:10-900» § (bash)curl -H 'authorization: bearer «S»' https://«host»/api § (python)headers = {"Authorization": f"Bearer «S»", "Accept": "application/json"} § (log)«ts» DEBUG > authorization: Bearer «S»¶«ts» DEBUG < HTTP/2 401
@auth-basic http pw :: GET /admin HTTP/1.1¶Host: «host»¶Authorization: Basic «b64e:«user»:«S»» § (js)fetch(url, { headers: { Authorization: "Basic «b64e:«user»:«S»»" } }); § (log)«ts» DEBUG request headers: {'authorization': 'Basic «b64e:«user»:«S»»', 'accept': '*/*'} § (json){"auths": {"registry.«dom»": {"auth": "«b64e:«user»:«S»»"}}}
@auth-other http hex32 :: GET /«repo»/ HTTP/1.1¶Authorization: Digest username="«user»", realm="«dom»", nonce="«hex:32»", uri="/«repo»/", qop=auth, nc=00000001, response="«S»" § Authorization: Token token="«S»"¶Accept: application/json § (bash)curl https://«host»/api/users -H "Authorization: ApiKey «S»"
@x-api-key http key :: GET /v1/rates HTTP/1.1¶X-Api-Key: «S»¶User-Agent: «repo»/«ver» § (go)req.Header.Set("X-API-Key", "«S»") § (java)conn.setRequestProperty("X-Auth-Token", "«S»"); § (csharp)client.DefaultRequestHeaders.Add("Ocp-Apim-Subscription-Key", "«S»");
@cookie-session http key :: GET /dashboard HTTP/1.1¶Host: «dom»¶Cookie: theme=dark; sessionid=«S»; lang=de § HTTP/1.1 302 Found¶Set-Cookie: «PHPSESSID|JSESSIONID|connect.sid»=«S»; Path=/; HttpOnly § (bash)curl 'https://«dom»/account' -b 'remember_token=«S»' ;; @dotenv dotenv pw :: «env»¶«up:«pwn»»=«S»¶«env» § «env»¶«env»¶export «up:«pwn»»="«S»" § # «note»¶«up:«svc»_«pwn»»='«S»'
@dotenv-key dotenv key :: «up:«keyn»»=«S»¶«env» § «env»¶«up:«org»_«keyn»»="«S»"¶«env» § «up:«keyn»»: «S» ;; @yaml-password yaml pw :: database:¶  host: «host»¶  user: «user»¶  «password|pass|passwd»: "«S»"¶  «yml» § «yml»¶«camel:«pwn»»: '«S»'¶«yml» § «svc»:¶  datasource:¶    username: «user»¶    password: «S»¶  «yml»
@yaml-next-line yaml key :: «keyn»:¶  "«S»"¶«yml» § «svc»:¶  «keyn»: >-¶    «S»¶  «yml» § credentials:¶  «camel:«keyn»»: |¶    «S»¶«yml» § «pwn»: |-¶  «S»
@json-config json pw :: {¶  "host": "«host»",¶  "user": "«user»",¶  "«camel:«pwn»»": "«S»"¶} § {"connections": {"«db»": {"auth": {"login": "«user»", "password": "«S»"}, "port": «port»}}} § {"name": "«svc»", "credentials": {¶  "password":¶    "«S»"¶}}
@json-key json key :: {"«keyn»": "«S»", "expires": "«date»"} § {"client_id": "«uuid:»", "client_secret": "«S»", "grant_type": "client_credentials"} § {"key": "«keyn»", "value": "«S»", "enabled": true} § {"name": "«up:«keyn»»", "value": "«S»"}
@toml toml pw :: [database]¶server = "«host»"¶password = "«S»"¶ports = [«port», 8001] § [tool.«repo».auth]¶user = '«user»'¶«pwn» = '«S»' § «svc» = { user = "«user»", password = "«S»", pool = «int:2-40» } ;; @ini ini pw :: [mysqld_backup]¶user = «user»¶password = «S» § ; «note»¶[smtp]¶host=mail.«dom»¶pass=«S» § [«svc»]¶«pascal:«pwn»»=«S»¶Timeout=«int:5-90»
@properties properties pw :: spring.datasource.url=jdbc:postgresql://«host»:5432/«db»¶spring.datasource.username=«user»¶spring.datasource.password=«S» § signing.keyId=«hexu:8»¶signing.password=«S»¶signing.secretKeyRingFile=/home/«user»/.gnupg/secring.gpg § «svc».«dash:«pwn»» = «S»¶«svc».pool.max = «int:2-40»
@maven-settings xml pwx :: <server>¶  <id>«org»-releases</id>¶  <username>«user»</username>¶  <password>«xml:«S»»</password>¶</server> § <proxy><host>«host»</host><port>«port»</port><password>«xml:«S»»</password></proxy> § <bean id="ds"><property name="password"><value>«xml:«S»»</value></property></bean>
@dotnet-settings xml pw :: <appSettings>¶  <add key="LogLevel" value="Debug" />¶  <add key="«pascal:«pwn»»" value="«S»" />¶</appSettings> § <add name="Default" connectionString="Server=«host»;Database=«db»;User Id=«user»;Password=«S»;" providerName="System.Data.SqlClient" /> § (json){"ConnectionStrings": {"Default": "Data Source=«host»;Initial Catalog=«db»;Uid=«user»;Pwd=«S»;Encrypt=True"}} § <property name="«pascal:«pwn»»" value="«S»"/>
@dockerfile dockerfile pw :: FROM node:20-alpine¶ENV NODE_ENV=production¶ENV «up:«pwn»» «S»¶RUN npm ci § FROM python:3.12-slim¶ARG «up:«pwn»»=«S»¶WORKDIR /app § ENV DB_HOST=«host» \¶    DB_USER=«user» \¶    DB_PASS=«S» § (bash)docker build --build-arg «up:«pwn»»=«S» -t «org»/«svc»:«ver» .
@docker-compose yaml pw :: services:¶  db:¶    image: postgres:16¶    environment:¶      POSTGRES_USER: «user»¶      POSTGRES_PASSWORD: «S» §   «svc»:¶    image: mariadb:11¶    environment:¶      - MYSQL_DATABASE=«db»¶      - MYSQL_ROOT_PASSWORD=«S»¶    ports: ["3306:3306"] §   cache:¶    command: redis-server --requirepass «S» --appendonly yes
@docker-login bash pwsh :: docker login -u «user» -p «S» registry.«dom» § docker login registry.«dom»:5000 --username «user» --password '«S»'¶docker push registry.«dom»/«svc»:«ver» § helm registry login «host» -u «user» -p «S»
@netrc text pw :: machine «host» login «user» password «S» § machine git.«dom»¶  login «user»¶  password «S» § (bash)echo "default login «user» password «S»" >> ~/.netrc ;; @pgpass text pw :: «host»:5432:«db»:«user»:«S» § # ~/.pgpass¶*:*:*:«user»:«S» § (bash)echo '«host»:5432:*:«user»:«S»' > ~/.pgpass && chmod 600 ~/.pgpass
@sql sql pw :: CREATE USER '«user»'@'%' IDENTIFIED BY '«S»';¶GRANT ALL ON «db».* TO '«user»'@'%'; § ALTER ROLE "«user»" WITH LOGIN PASSWORD '«S»'; § create user «user» with encrypted password '«S»'; § ALTER USER «user» IDENTIFIED BY "«S»"; § CREATE LOGIN «user» WITH PASSWORD = N'«S»', CHECK_POLICY = OFF; § (log)«ts» STATEMENT:  ALTER USER «user» PASSWORD '«S»'
@shell-export bash pwsh :: export «PGPASSWORD|MYSQL_PWD|ADMIN_PASS»='«S»'¶psql -h «host» -U «user» «db» § set -x «up:«pwn»» «S» § $env:«up:«pwn»» = "«S»"¶.\deploy.ps1 -Env prod § «PGPASSWORD|RESTIC_PASSWORD»=«S» ./«backup|restore».sh «db»
@command-line bash pwsh :: curl -u «user»:«S» -X PUT https://«host»/_cluster/settings § mysql -h «host» -u «user» -p«S» «db» < dump.sql § sshpass -p '«S»' ssh «user»@«host» uptime § redis-cli -h «host» -a «S» ping § ldapsearch -x -D "cn=«user»,dc=«org»,dc=com" -w '«S»' -b dc=«org»,dc=com § net use Z: \\«host»\share /user:«user» «S» § openssl pkcs12 -in cert.p12 -passin pass:«S» -nodes
@command-line-token bash key :: ./«repo» serve --port «port» --«token|api-key|auth-token»=«S» § npx «repo» publish --access-token «S» --dry-run § sonar-scanner -Dsonar.projectKey=«repo» -Dsonar.login=«S» § kubectl create secret generic «svc» --from-literal=«dash:«keyn»»=«S» § helm upgrade «svc» ./chart --set auth.«camel:«keyn»»=«S» § (log)root  «int:300-9000»  0.3  1.2 /usr/bin/«svc» --api-key «S» --listen :«port»
@python-code python pw :: conn = psycopg2.connect(host="«host»", user="«user»", password="«S»", dbname="«db»") § class Config:¶    DEBUG = False¶    «up:«pwn»» = '«S»' § settings = {¶    "user": "«user»",¶    "passwd": "«S»",¶} § def test_login(client):¶    password = "«S»"¶    assert client.login("«user»", password)
@js-code js pw :: const pool = mysql.createPool({¶  host: '«host»',¶  user: '«user»',¶  password: '«S»',¶}); § const «camel:«keyn»» = "«S»";¶export default «camel:«keyn»»; § auth: { user: `«user»@«dom»`, pass: `«S»` }, § await page.fill('#password', '«S»');
@java-code java pw :: private static final String «up:«pwn»» = "«S»"; § DataSource ds = new BasicDataSource();¶ds.setUsername("«user»");¶ds.setPassword("«S»"); § Connection c = DriverManager.getConnection("jdbc:mysql://«host»/«db»", "«user»", "«S»"); § (groovy)signingConfigs { release { storeFile file("«org».jks"); storePassword "«S»" } }
@go-code go key :: const «camel:«keyn»» = "«S»" § cfg := &Config{¶	Host:   "«host»",¶	«pascal:«keyn»»: "«S»",¶} § client := «camel:«svc»».NewClient("https://api.«dom»", «camel:«svc»».WithToken("«S»"))
@csharp-code csharp pw :: var cred = new NetworkCredential("«user»", "«S»", "«org»"); § public const string «pascal:«pwn»» = @"«S»"; § builder.UserID = "«user»";¶builder.Password = "«S»";¶builder.InitialCatalog = "«db»";
@ruby-php-code php pwx :: define('DB_USER', '«user»');¶define('DB_PASSWORD', '«S»');¶define('DB_HOST', '«host»'); § $pdo = new PDO('mysql:host=«host»;dbname=«db»', '«user»', '«S»'); § $config['«pwn»'] = '«S»'; § (ruby)Devise.setup { |c| c.«keyn» = '«S»' } § 'password' => env('DB_PASSWORD', '«S»'), § (ruby)ActionMailer::Base.smtp_settings = { user_name: '«user»', password: '«S»' }
@terraform hcl pw :: resource "aws_db_instance" "«db»" {¶  username = "«user»"¶  password = "«S»"¶} § variable "«pwn»" {¶  type    = string¶  default = "«S»"¶} § # terraform.tfvars¶«pwn» = "«S»"¶region      = "«region»"
@kubernetes-secret yaml pw :: apiVersion: v1¶kind: Secret¶metadata:¶  name: «svc»-db¶type: Opaque¶data:¶  username: «b64e:«user»»¶  password: «b64e:«S»» § kind: Secret¶apiVersion: v1¶data: {«dash:«pwn»»: «b64e:«S»»}¶metadata: {name: «svc», namespace: prod} § (json){"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "«svc»"}, "data": {"«up:«pwn»»": "«b64e:«S»»"}} § apiVersion: v1¶kind: Secret¶metadata:¶  name: «svc»¶stringData:¶  «dash:«pwn»»: «S»
@ci-literal yaml key :: jobs:¶  deploy:¶    runs-on: ubuntu-latest¶    env:¶      «up:«keyn»»: «S»¶    steps:¶      - uses: actions/checkout@v4 §       - name: publish¶        with:¶          «dash:«keyn»»: "«S»" § variables:¶  «up:«svc»_TOKEN»: "«S»"¶deploy:¶  script: [make deploy]
@ansible ini pw :: «host» ansible_user=«user» ansible_password=«S» § (yaml)- hosts: «svc»¶  vars:¶    ansible_become_pass: «S»¶    mysql_root_password: "{{ vault_mysql }}" § (yaml)- name: create «user»¶  community.mysql.mysql_user: name=«user» password=«S» state=present
@daemon-config text pw :: requirepass «S»¶appendonly yes¶maxmemory «int:1-8»gb § [Service]¶Environment="«up:«pwn»»=«S»"¶ExecStart=/usr/bin/«svc» § network={¶    ssid="«org»-guest"¶    psk="«S»"¶} § bindDN: cn=«user»,dc=«org»,dc=com¶bindPW: «S»
@wireguard ini b64key :: [Interface]¶Address = 10.8.0.«int:2-250»/24¶PrivateKey = «S»¶[Peer]¶PublicKey = «rb:32»¶Endpoint = vpn.«dom»:51820 § [Peer]¶PublicKey = «rb:32»¶PresharedKey = «S»¶AllowedIPs = 0.0.0.0/0 ;; @password-hash text hash :: «user»:«S» § # /etc/shadow¶«user»:«S»:19«num:3»:0:99999:7::: § (sql)INSERT INTO users (name, password_hash) VALUES ('«user»', '«S»');
@prose-token prose key :: my token is «S» and I still get 403 § Use «S» as the API key, the quota is shared. § The client secret for the «svc» app: «S» (please don't share it outside the team) § I used this access token: `«S»` § api key = «S» , created on «date» § Here is the webhook secret you asked for - «S» § I think the auth token they gave me is «S».
@prose-password prose pw :: the password for «user»: «S» § You can log in at https://«host»/ as «user» / «S» § user: «user»¶pw: «S» § For testing use the account «user»@«dom» with password «S» § Temporary password: «S»¶Please change it after the first login. § The root pwd of «host» is "«S»", don't tell anybody § Credentials: «user»:«S»
@prose-foreign prose pw :: Das Passwort für «user» lautet «S» § Zugangsdaten: Benutzer «user», Kennwort: «S» § La contraseña de «user» es «S» § Usuario: «user»¶Clave: «S» § ログイン情報です。ユーザー名: «user» パスワード: «S» § APIキーは «S» です。 § Le mot de passe pour «host» est : «S»
@log-line log key :: «ts» INFO «svc» using api key «S» § «ts» DEBUG config loaded: {«keyn»=«S», host=«host», retries=3} § «ts» ERROR auth failed for token '«S»' from 10.0.0.«int:2-250» § time="«date»T10:00:0«int:0-9»Z" level=debug msg="refreshing" refresh_token=«S» user=«user» § «ts» INFO POST /login body={"user":"«user»","password":"«S»"}
@stack-trace log pw :: Traceback (most recent call last):¶  File "/app/«svc».py", line «int:10-900», in connect¶    db.login('«user»', password='«S»')¶ConnectionError: timed out § java.sql.SQLException: Access denied (user=«user», password=«S»)¶	at com.«camel:«svc»».Db.open(Db.java:«int:10-900»)¶	at com.«camel:«svc»».Main.main(Main.java:12) § panic: login failed: {User:«user» Password:«S» Host:«host»}¶¶goroutine 1 [running]:¶main.main()
@table prose pw :: | host | user | password |¶|------|------|----------|¶| «host» | «user» | «S» | § id,username,password,created¶«int:1-99»,«user»,«S»,«date» § Server	«host»¶Login	«user»¶Password	«S»
@url-query-token log key :: «ts» "GET /api/v1/«svc»?access_token=«url:«S»»&page=«int:1-9» HTTP/1.1" 200 «int:100-9000» § (js)fetch(`https://api.«dom»/v2/«svc»?api_key=«url:«S»»`); § (prose)The feed is https://«dom»/rss?user=«user»&token=«url:«S»» § (http)POST /oauth/token HTTP/1.1¶Content-Type: application/x-www-form-urlencoded¶¶grant_type=client_credentials&client_id=«svc»&client_secret=«url:«S»» § (prose)Reset link: https://«dom»/reset?email=«user»%40«dom»&reset_token=«url:«S»»
@slack-webhook bash slackhook :: curl -X POST -d '{"text":"done"}' https://hooks.slack.com/services/T0«hexu:7»/B0«hexu:8»/«S» § (yaml)slack_configs:¶  - api_url: https://hooks.slack.com/services/T0«hexu:7»/B0«hexu:8»/«S»¶    channel: "#«svc»" § (js)const hook = 'https://hooks.slack.com/services/T0«hexu:7»/B0«hexu:8»/«S»';
@discord-webhook js discordhook :: const hook = new WebhookClient({ url: 'https://discord.com/api/webhooks/«num:18»/«S»' }); § (dotenv)DISCORD_WEBHOOK=https://discord.com/api/webhooks/«num:19»/«S» § (prose)Alerts go to https://discordapp.com/api/webhooks/«num:18»/«S» now
@totp-seed prose totp :: otpauth://totp/«org»:«user»@«dom»?secret=«S»&issuer=«org» § 2FA is on now, the TOTP secret is «S» § (python)totp = pyotp.TOTP("«S»")¶print(totp.now()) § (yaml)mfa:¶  otp_secret: «S»¶  digits: 6
@hex-or-uuid-key yaml hexkey :: «yml»¶encryption_key: «S» § (php)'app_secret' => '«S»', § (python)SECRET_KEY = "«S»"¶ALLOWED_HOSTS = ["«dom»"] § (dotenv)APPINSIGHTS_API_KEY=«S» § (prose)Our datadog api key: «S»
@uuid-key dotenv uuid :: HEROKU_API_KEY=«S» § (yaml)«svc»:¶  api_token: «S»¶  tenant_id: «uuid:» § (json){"deviceId": "«uuid:»", "authToken": "«S»"} § (bash)curl -H "X-Vault-Token: «S»" https://«host»/v1/sys
@lower-key text lowkey :: «svc»-secret = «S» § (js)var apiSecret = '«S»', apiVersion = «int:1-4»; § (prose)license server, shared secret: «S» § (yaml)consumerSecret: «S»¶callback: https://«dom»/cb ;; @html-entities html! pw :: <p>User «user», password: «html:«S»»</p> § <input type="hidden" name="api_key" value="«html:«S»»"> § <li>DB_PASSWORD=«html:«S»»</li>
@hex-escapes python! pw :: password = b"«xhex:«S»»" § (c)static const char api_key[] = "«xhex:«S»»"; § (log)«ts» DEBUG recv(4): "password=«xhex:«S»»\x00" ;; @octal-escapes bash! pw :: printf 'password=«oct:«S»»' | chpasswd § (log)write(5, "PASS «oct:«S»»\r\n", «int:20-60») = «int:20-60» § (c)const char *db_password = "«oct:«S»»";
@unicode-escapes json! pw :: {"user": "«user»", "password": "«uni:«S»»"} § (properties)«svc».password=«uni:«S»» § (js)const token = "«uni:«S»»"; ;; @percent-encoded http pw :: POST /login HTTP/1.1¶Content-Type: application/x-www-form-urlencoded¶¶username=«user»&password=«pct:«S»» § (log)«ts» GET /cb?state=«hex:12»&api_key=«pct:«S»» 302 § (prose)open myapp://login?pwd=«pct:«S»»
@quoted-printable text! pwsym :: Content-Type: text/plain; charset=3Dutf-8¶Content-Transfer-Encoding: quoted-printable¶¶Gr=C3=BC=C3=9Fe, das Passwort: «qp:«S»» § Content-Transfer-Encoding: quoted-printable¶¶Your new password=3D«qp:«S»»¶Kind regards § Subject: access¶Content-Transfer-Encoding: quoted-printable¶¶Benutzer: «user»=20¶Kennwort: «qp:«S»»
@qp-soft-break text! key :: Content-Transfer-Encoding: quoted-printable¶¶As discussed on «date», the api key for the «svc» account is «soft:«S»»¶=2D-=20¶«user» § MIME-Version: 1.0¶Content-Transfer-Encoding: quoted-printable¶¶Hello «user», please set client_secret=3D«soft:«S»» in the admin panel. § Content-Transfer-Encoding: quoted-printable¶¶<p style=3D"color:#333">Your access token: «soft:«S»»</p>
@base64-line bash pw :: echo «b64e:«up:«pwn»»=«S»» | base64 -d >> .env § (yaml)user_data: «b64e:#!/bin/sh¶export «up:«pwn»»=«S»¶/opt/«svc»/run¶» § (json){"payload": "«b64e:{"user":"«user»","password":"«S»"}»", "encoding": "base64"} ;; @hex-dump log! pw :: 70 61 73 73 3a «spaced:«S»» § request body of POST /login:¶«xxd:user=«user»&password=«S»» § tcp payload: «spaced:«pwn»=«S»»
"""

HARMLESS_TABLE = r"""
@git-sha log :: «ts» deploy of «repo»@«hex:40» finished § (diff)commit «hex:40»¶Merge: «hex:7» «hex:7»¶Author: «user» <«user»@«dom»>¶¶    «title» § (prose)Bisect says «hex:40» is the first bad commit, see https://github.com/«org»/«repo»/commit/«hex:40» § (yaml)- uses: actions/checkout@«hex:40» # «ver»
@sha256-digest text :: «hex:64»  «repo»-«ver».tar.gz¶«hex:64»  «repo»-«ver».zip § (python)assert sha256(data).hexdigest() == "«hex:64»" § (ruby)url "https://«dom»/«repo»-«ver».tgz"¶sha256 "«hex:64»" § (toml)[[package]]¶name = "«word:»"¶version = "«ver»"¶checksum = "«hex:64»"
@ssh-fingerprint log :: The key fingerprint is «fp:» § debug1: Server host key: ssh-ed25519 «fp:» § «ts» sshd[«int:300-9000»]: Accepted publickey for «user» from 10.0.0.«int:2-250» port «int:20000-60000» ssh2: RSA «fp:» § 256 «fp:» «user»@«host» (ED25519)
@integrity-hash json :: {"node_modules/«word:»": {"version": "«ver»", "resolved": "git+https://code.«dom»/«word:»/-/«word:»-«ver».tgz", "integrity": "sha512-«rb:64»"}} § (html)<script src="https://cdn.«dom»/«word:».min.js" integrity="sha384-«rb:48»" crossorigin="anonymous"></script> § (yaml)/«word:»@«ver»:¶  resolution: {integrity: sha512-«rb:64»} § (go)github.com/«org»/«word:» v1.«int:0-20».0 h1:«rb:32» § (nix)hash = "sha256-«rb:32»";
@request-uuid log :: «ts» INFO request_id=«uuid:» user_id=«uuid:» status=«200|404|500» § (json){"orderId": "«uuid:»", "correlationId": "«uuid:»", "status": "shipped"} § (prose)The order «uuid:» is still open, its trace is «uuid:». § (sql)SELECT * FROM orders WHERE id = '«uuid:»';
@trace-id log :: traceparent: 00-«hex:32»-«hex:16»-01 § «ts» ERROR [«svc»,«hex:32»,«hex:16»] timeout § X-Amzn-Trace-Id: Root=1-«hex:8»-«hex:24» § cf-ray: «hex:16»-FRA¶x-request-id: «hex:32»
@data-uri html :: <img src="data:image/png;base64,«png:60»" alt="«fname»"> § (css).«word:» { background: url(data:image/svg+xml;base64,«b64e:<svg xmlns="http://www.w3.org/2000/svg" width="16"><path d="M0 0h«int:2-16»v16z"/></svg>»); } § (prose)![«fname»](data:image/png;base64,«png:90»)
@base64-image text! :: Content-Type: image/png¶Content-Transfer-Encoding: base64¶¶«cut:«png:420»» § (json){"image/png": "«png:200»", "text/plain": ["<Figure size 640x480>"]} § (python)ICON = b64decode("«png:120»")
@base64-prose json :: {"content": "«b64e:«prose» «prose»»", "encoding": "base64"} § (text)Subject: =?UTF-8?B?«b64e:«prose»»?= § (yaml)motd: «b64e:«prose»» § (bash)echo '«b64e:«prose»»' | base64 -d
@encoded-prose text! :: Content-Transfer-Encoding: quoted-printable¶¶«qp:«prose»»=20 § (json){"message": "«uni:«prose»»"} § (html)<p>«html:«word:» «word:»»</p> § (log)«ts» GET /search?q=«url:«prose»» 200 § (python)b"«xhex:«word:» «word:»»"
@certificate text! :: «cert:CERTIFICATE» § $ openssl x509 -in server.crt¶«cert:CERTIFICATE» § «cert:PUBLIC KEY» § (yaml)caBundle: |¶    «ind:«cert:CERTIFICATE»» § (js)const PUBLIC_KEY = "«nl:«cert:PUBLIC KEY»»"; ;; @ssh-public-key text :: «ed:» «user»@«host» § (bash)echo "«rsa:» «user»@«dom»" >> ~/.ssh/authorized_keys § (yaml)ssh_authorized_keys:¶  - «ed:» «user» § github.com «ed:»
@mangled-symbol log :: /usr/bin/ld: main.o: undefined reference to `«sym:»' §   «int:3-30»: 0x«hex:12» - «sym:rust» § «hex:16» T «sym:»¶«hex:16» t «sym:rust» § #«int:1-20» 0x0000«hex:12» in «sym:» () from /lib/x86_64-linux-gnu/lib«word:».so.«int:1-9»
@image-name html :: <img src="/img/«fname»@2x.png" srcset="/img/«fname»@3x.png 3x"> § (swift)UIImage(named: "«fname»-«word:»@2x.png") § (log)«ts» GET /static/media/«fname»@2x.«hex:20».png 304 § (prose)Please replace «fname»@2x.png and «word:»_«fname»@3x.png with the new version.
@share-link prose :: Video: https://www.youtube.com/watch?v=«ru:11»&t=«int:5-900»s § Notes are in https://docs.google.com/document/d/1«ru:43»/edit#heading=h.«lod:12» § Design: https://www.figma.com/file/«aln:22»/«repo»?node-id=«int:1-900»%3A«int:1-900» § https://www.notion.so/«org»/Meeting-notes-«hex:32» § Siehe https://stackoverflow.com/questions/«num:8»/how-to-reset-a-password-in-«word:»#«num:8» § https://youtu.be/«ru:11»?si=«ru:16»
@package-spec text :: «word:»==«ver» \¶    --hash=sha256:«hex:64» \¶    --hash=sha256:«hex:64» § (json){"dependencies": {"@«org»/auth-token": "^«int:1-9».2.0", "password-validator": "~5.3.0"}} § (bash)pip install «word:»-secrets==«ver» "pydantic[dotenv]>=2" § (yaml)- conda-forge::«word:»=«int:1-9».«int:0-9»=py312h«hex:7»_«int:0-4»
@image-digest yaml :: image: ghcr.io/«org»/«svc»@sha256:«hex:64» § (dockerfile)FROM python:3.12-slim@sha256:«hex:64» § (log)«int:1-9».2: digest: sha256:«hex:64» size: «int:900-4000»¶ ---> «hex:12» § (log)latest: Pulling from «org»/«svc»¶«hex:12»: Pull complete
@placeholder dotenv :: «env»¶«up:«pwn»»=«ph»¶«env» § (yaml)«svc»:¶  user: «user»¶  password: "«ph»" § (json){"«camel:«keyn»»": "«ph»", "region": "«region»"} § (bash)curl -H "Authorization: Bearer «ph»" https://api.«dom» § (prose)Set `«up:«keyn»»=«ph»` in your environment, never commit the real one.
@placeholder-prefix bash :: export GITHUB_TOKEN=ghp_«x:36» § (python)client = OpenAI(api_key="sk-...") § (prose)A key looks like `sk_live_…` or `AKIA****************`, a bot token like `xoxb-your-token`. § (yaml)npm_token: npm_«x:8»
@placeholder-url dotenv :: DATABASE_URL=postgres://USER:PASSWORD«at»HOST:5432/DB § (yaml)url: postgresql://${DB_USER}:${DB_PASSWORD}«at»«host»/«db» § (bash)mongosh "mongodb+srv://«user»:<password>«at»cluster0.«lod:5».mongodb.net/" § (log)«ts» INFO connecting to redis://:***«at»«host»:6379/«int:0-9» § (python)url = f"amqp://{user}:{password}«at»{host}:5672/" § (prose)The form is `https://<user>:<token>«at»«host»/«repo».git`.
@env-lookup js :: const «camel:«keyn»» = process.env.«up:«keyn»»; § (python)«up:«keyn»» = os.environ["«up:«keyn»»"] § (php)'password' => env('DB_PASSWORD'), § (go)password := os.Getenv("«up:«pwn»»") § (ruby)config.«keyn» = ENV.fetch("«up:«keyn»»") § (bash)export «up:«pwn»»="$(pass show «org»/«svc»)" § (bash)curl -u "$USER:$PASSWORD" https://«host»/ -H "X-Api-Key: ${API_KEY}"
@secret-reference yaml :: env:¶  GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}¶  «up:«keyn»»: ${{ secrets.«up:«keyn»» }} § db_password: "{{ lookup('hashi_vault', 'secret=kv/data/«svc»:password') }}" § password: vault:secret/data/«svc»#password § - name: «up:«pwn»»¶  valueFrom:¶    secretKeyRef:¶      name: «svc»-credentials¶      key: password § (hcl)password = data.aws_secretsmanager_secret_version.«db».secret_string § (dotenv)«up:«keyn»»=op://«org»/«svc»/credential § (json){"secretArn": "arn:aws:secretsmanager:«region»:«num:12»:secret:«svc»/«db»-«aln:6»"}
@redacted log :: «ts» DEBUG headers: {'Authorization': 'Bearer ***', 'Cookie': '[REDACTED]'} § «ts» INFO login user=«user» password=******** result=ok § (json){"user": "«user»", "password": "[FILTERED]", "token": "<redacted>"} § (prose)I replaced the token with «xxxxx|*****|(removed)» before I pasted the log. § «ts» INFO «svc» api_key=«aln:4»…(masked)
@password-field python :: class LoginForm(BaseModel):¶    username: str¶    password: str = Field(..., min_length=«int:8-16») § (ts)interface Credentials { «camel:«pwn»»: string; token?: string | null; } § (java)private String password;¶public void setPassword(final String password) { this.password = password; } § (go)type Login struct {¶	Password string `json:"password" validate:"required,min=8"`¶} § password = models.CharField(max_length=«int:60-255», null=True) § (csharp)public string «pascal:«keyn»» { get; set; } = string.Empty;
@password-code python :: def check_password(password: str, hashed: bytes) -> bool:¶    return bcrypt.checkpw(password.encode(), hashed) § if token is None or token == "":¶    raise AuthenticationError("no token") § token = get_token(user_id=«int:1-900»)¶headers = {"Authorization": f"Bearer {token}"} § password_hash = hash_password(form.password) § (js)const token = await authService.refreshToken(session.userId); § secret = secrets.token_urlsafe(«int:16-64») § api_key = settings.«svc»_api_key or config["api_key"] § (ruby)user.authenticate(params[:password]) § (js)if (password !== passwordConfirmation) return setError('passwordMismatch'); § (java)String password = request.getParameter("password");
@password-message js :: errors.password = "Password is required"; § (python)assert response.json() == {"detail": "Incorrect username or password"} § (json){"login.password.label": "Passwort", "login.password.tooShort": "Das Passwort ist zu kurz", "token_expired": "Sitzung abgelaufen"} § expect(screen.getByText('Password must have at least «int:8-16» characters')).toBeVisible(); § (yaml)en:¶  password: "Your password"¶  forgot_password: "Forgot your password?"¶  invalid_token: "This link has expired" § (properties)user.password=Contraseña¶user.password.repeat=Repetir contraseña
@sql-schema sql :: CREATE TABLE users (¶  id BIGINT PRIMARY KEY,¶  password VARCHAR(«int:60-255») NOT NULL,¶  api_token CHAR(64) DEFAULT NULL¶); § ALTER TABLE «db» ADD COLUMN password_hash text; § SELECT user, password FROM accounts WHERE token = $1; § UPDATE users SET password = ? WHERE id = ?; § (ruby)add_column :users, :reset_password_token, :string
@html-form html :: <input type="password" name="password" placeholder="Password" autocomplete="current-password" required> § <label for="api-key">API key</label>¶<input id="api-key" type="password" value=""> § (jsx)<TextField label="Token" value={token} onChange={e => setToken(e.target.value)} /> § (text)<input type="hidden" name="csrf_token" value="{{ csrf_token() }}">
@cli-usage text :: usage: «repo» login [-h] [-u USER] [-p PASSWORD] [--token TOKEN] §   -p, --password string   Password or personal access token (default "")¶      --password-stdin    Take the password from stdin § (bash)read -rsp "Password: " PASSWORD § (bash)docker login -u «user» --password-stdin < token.txt § (bash)mysql -h «host» -u «user» -p «db» < dump.sql § (log)[sudo] password for «user»: ¶Sorry, try again.
@token-prose prose :: The token is expired after «int:5-90» minutes, then you have to log in again. § The password for the account must have «int:8-16» characters and a digit. § Does the API key need the write scope, or is read enough? § My token is not accepted since yesterday, I get 401 invalid_token. § Das Passwort wird nie gespeichert, nur der Hash. § La contraseña debe tener al menos «int:8-16» caracteres. § パスワードは«int:8-16»文字以上で入力してください。 § password: see 1Password, entry "«svc» «staging|prod»" § The client secret is stored in the vault, ask «user» for access.
@llm-tokens json :: {"model": "«gpt-4o|claude-3-5-sonnet-20241022»", "max_tokens": «int:100-8000», "temperature": 0.«int:1-9»} § {"usage": {"prompt_tokens": «int:9-9000», "completion_tokens": «int:9-900», "total_tokens": «int:900-12000»}} § (log)«ts» INFO llm call done: input_tokens=«int:100-9000» output_tokens=«int:9-900» § (prose)The context window has «int:8-200»000 tokens, so «num:6» tokens do not fit.
@tokenizer-output python :: ['▁The', '▁«word:»', '▁pass', 'word', '▁is', '▁«word:»', '</s>'] § {"input_ids": [101, «list:14», 102], "token_type_ids": [0, 0, 0, 0]} § (json){"<|endoftext|>": 50256, "Ġ«word:»": «num:5», "Ġtoken": 11241, "Ġ«word:»": «num:5»} § pad_token="<|pad|>", eos_token="<|im_end|>", unk_token="[UNK]", mask_token="<mask>"
@design-tokens css :: :root {¶  --token-color-«word:»: #«hex:6»;¶  --token-space-«int:1-9»: «int:2-48»px;¶} § (json){"color": {"«word:»": {"value": "#«hex:6»"}, "«word:»": {"value": "rgba(«int:0-255», «int:0-255», 12, 0.«int:1-9»)"}}} § .btn-«word:» { color: #«hex:3»; border: 1px solid #«hex:8»; } § (js)module.exports = { theme: { colors: { «word:»: '#«hexu:6»', «word:»: '#«hexu:6»' } } };
@parser-tokens c :: case TOKEN_IDENTIFIER: return parse_«word:»(p, TOKEN_LPAREN); § (log)SyntaxError: Unexpected token '«<|}|)»' at position «int:1-900» § (js)const tokens = lexer.tokenize(source); // Token(type='NAME', value='«word:»') § (log)«file»:«int:2-900»:«int:1-80»: error: expected ';' before '«word:»' token
@native-trace log :: #0  0x0000«hex:12» in raise () from /lib64/libc.so.6¶#1  0x0000«hex:12» in «word:»_«word:» (ctx=0x«hex:12») at src/«word:».c:«int:9-900» § Call Trace:¶ [<ffffffff«hex:8»>] «word:»_init+0x«hex:2»/0x«hex:3»¶RIP: 0010:«word:»_lock+0x«hex:2» RSP: 0018:ffff«hex:12» EFLAGS: 00010246 § 	at com.«org».security.PasswordResetTokenService.validateToken(PasswordResetTokenService.java:«int:20-400»)¶	at com.«org».Main.main(Main.java:«int:9-90») § Segmentation fault at 0x«hex:16», pc 0x«hex:16», sp 0x«hex:16» § «fname».js:«int:1-900» Uncaught TypeError: Cannot read properties of undefined (reading 'token')
@memory-dump log! :: «xxd:«prose»» § 0x«hex:12»: 48 8b 05 «hex:2» «hex:2» 2f 00 48 85 c0 74 02 ff d0 § 7f«hex:10»-7f«hex:10» r-xp 00000000 fd:01 «num:7»  /usr/lib/lib«word:».so § +0x«hex:4»  «hexu:8» «hexu:8» 00000000 «hexu:8»
@network-address text :: eth«int:0-9»: inet6 fe80::«hex:4»:«hex:4»:«hex:4»:«hex:4»/64 ether «hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2» § (log)«ts» DHCPACK on 10.0.0.«int:2-250» to «hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2»:«hex:2» via eth«int:0-9» § (yaml)listen: "[2001:db8:«hex:4»::«hex:4»]:«port»"¶mac_address: «hexu:2»-«hexu:2»-«hexu:2»-«hexu:2»-«hexu:2»-«hexu:2»
@order-number prose :: Rechnung RE-2024-«num:6», IBAN DE«num:20», Betrag «int:10-900»,00 EUR § Your parcel 1Z«hexu:16» arrives on «date», order #«num:10» § Ticket «up:«word:»»-«num:5» / customer K«num:8» § (csv)invoice;iban;amount¶«num:8»;NL«num:2»ABNA«num:10»;«int:9-900».50
@timestamp log :: «date»T0«int:1-9»:12:45.«num:6»+00:00 «svc» tick § (json){"created_at": 17«num:8», "updated_at": "«date»T12:00:00.«num:3»Z", "exp": 17«num:8»} § (bash)touch -t 20240«int:1-9»1«int:0-9»0930.00 «file»; date +%s%N # 17«num:17»
@minified-js js :: !function(e,t){"object"==typeof exports?t(exports):t(e.«word:»={})}(this,(function(e){var n=function(e){return e.token||e.password},r=«int:1-90»;e.«word:»=n})); § const a=e=>{let{token:t,password:n}=e;return t?«word:»(t):n&&i(n)},o=s(«int:100-9999»); § (text)//# sourceMappingURL=«word:».«hex:8».chunk.js.map § (text){"version":3,"sources":["src/«word:».ts"],"mappings":"AAAA,SAAS,«up:«word:»»,GAAG;EACV,OAAO,CAAC"}
@long-path text :: /home/«user»/.cache/pip/http-v2/«hex:1»/«hex:1»/«hex:1»/«hex:56».body § (python)from «word:».authentication.token_backends.password_reset import PasswordResetTokenGenerator § C:\Users\«user»\AppData\Local\Packages\Microsoft.«pascal:«word:»»_8wekyb3d8bbwe\LocalState\«word:» § (log)«ts» WARN cannot read /nix/store/«lod:32»-«word:»-«ver»/etc/password.conf § (bash)cat /var/run/secrets/kubernetes.io/serviceaccount/token | wc -c
@class-name java :: import org.springframework.security.authentication.UsernamePasswordAuthenticationToken; § (log)org.«word:».AbstractSecretKeyCredentialProviderFactoryBean: bean '«word:»TokenStore' not found § (csharp)services.AddSingleton<I«pascal:«word:»»PasswordHasher, «pascal:«word:»»PasswordHasher>(); § (prose)Rename «pascal:«word:»»AccessTokenResponseHttpMessageConverter to something shorter?
@http-validators http :: HTTP/2 200¶ETag: «W/|»"«hex:32»"¶Last-Modified: «date»¶Cache-Control: max-age=«num:5» § If-None-Match: "«hex:8»-«hex:12»" § (html)<script nonce="«rb:16»">init()</script> § Content-Security-Policy: script-src 'self' 'nonce-«rb:16»' 'sha256-«rb:32»' § (log)«ts» 304 /app.css etag="«aln:27»"
@cdn-url html :: <link rel="stylesheet" href="https://cdn.«dom»/assets/«word:»-«hex:20».css"> § (prose)https://user-images.githubusercontent.com/«num:7»/«num:9»-«uuid:».png § (log)GET https://«org»-assets.s3.«region».amazonaws.com/«db»/«hex:2»/«hex:40».webp 200 § (json){"url": "ipfs://Qm«aln:44»", "thumb": "https://«dom»/_next/static/«ru:21»/_buildManifest.js"}
@license text :: Permission is hereby granted, free of charge, to any person obtaining a copy of this software¶and associated documentation files (the "Software") of «org», to deal in the Software without restriction. § // Copyright 20«int:10-25» The «pascal:«word:»» Authors¶// SPDX-License-Identifier: «MIT|Apache-2.0|BSD-3-Clause» § Licensed under the Apache License, Version 2.0 (the "License"); «org» «repo» may not be used except in compliance.
@message-id text :: Message-ID: <«uuid:»@mail.«dom»>¶In-Reply-To: <CA+«ru:40»@mail.gmail.com> § (log)«ts» postfix/smtp[«int:300-9000»]: «hexu:10»: to=<«user»@«dom»>, status=sent (250 2.0.0 OK «hex:12») § X-Mailer-Id: «b32:26»¶DKIM-Signature: v=1; a=rsa-sha256; d=«dom»; bh=«rb:32»;
@ulid-version json :: {"id": "01«b32:24»", "type": "«svc».created"} § (log)«ts» job 01«b32:24» queued on «svc» § (text)«repo» «ver»+build.«num:6».g«hex:7» (linux-amd64, go1.22.«int:0-9») § (prose)Upgraded from «ver» to «ver», event 01«b32:24» is gone.
@pod-name log :: «svc»-«hex:9»-«lod:5»   1/1   Running   «int:0-9»   «int:1-90»d¶«svc»-«hex:10»-«lod:5»   0/1   CrashLoopBackOff   «int:1-90» § (bash)kubectl logs -f «svc»-«hex:10»-«lod:5» -n prod § «ts» Pulled image for pod token-service-«int:0-9» on ip-10-0-«int:1-250»-«int:1-250».ec2.internal (i-0«hex:16»)
@harmless-cookie http :: Cookie: theme=dark; lang=«de|ja|es»; cookie_consent=true; sidebar=«int:100-400» § Set-Cookie: currency=EUR; Path=/; Max-Age=«num:7»; SameSite=Lax § (js)document.cookie = "tz=Europe/Berlin; max-age=«num:6»"; § Set-Cookie: sessionid=; expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/
@plain-url text :: ssh://git@git.«dom»:2222/«org»/«repo».git § (bash)git clone git@github.com:«org»/«repo».git § (yaml)url: ftp://anonymous@«host»/pub § (dotenv)DATABASE_URL=postgresql://«user»@«host»:5432/«db»?sslmode=verify-full § (prose)https://«dom»/login?next=%2Fsettings%2Ftokens&utm_source=«word:» § (js)fetch(`https://api.«dom»/tokens/${id}?page=«int:1-90»`)
@api-schema yaml :: components:¶  securitySchemes:¶    bearerAuth: {type: http, scheme: bearer, bearerFormat: JWT}¶    apiKey: {type: apiKey, in: header, name: X-Api-Key} § (json){"type": "object", "properties": {"password": {"type": "string", "format": "password", "minLength": «int:8-16»}}, "required": ["password"]} § (graphql)type Mutation { login(email: String!, password: String!): AuthToken } § (proto)message LoginRequest { string password = «int:1-9»; bytes token = «int:10-19»; } § (json){"name": "password", "in": "formData", "type": "string", "required": true, "description": "Password of «user»"}
@secret-settings hcl :: variable "«pwn»" {¶  type      = string¶  sensitive = true¶} § (yaml)password_policy:¶  min_length: «int:8-16»¶  require_digit: true¶token_ttl: «int:5-90»m § (ini)PasswordAuthentication no¶PubkeyAuthentication yes¶MaxAuthTries «int:2-9» § (toml)[auth]¶token_lifetime = «num:4»¶password_file = "/run/secrets/«pwn»"¶secret_name = "«svc»-db" § (dotenv)DB_PASSWORD=¶API_KEY=""¶«env» § (yaml)imagePullSecrets:¶  - name: regcred-«org»¶existingSecret: «svc»-postgresql
@auth-log log :: «ts» sshd[«int:300-9000»]: Failed password for invalid user «user» from 10.0.«int:0-9».«int:2-250» port «int:20000-60000» ssh2 § «ts» WARN invalid api key for client «svc» (key id «num:4») § «ts» ERROR password authentication failed for user "«user»" § «ts» INFO token refreshed for «user», expires in «num:4»s § (json){"error": "invalid_grant", "error_description": "Token has been expired or revoked.", "trace": "«hex:16»"} § «ts» Enter passphrase for key '/home/«user»/.ssh/id_rsa':
@diff-and-notebook diff :: diff --git a/«file» b/«file»¶index «hex:7»..«hex:7» 100644¶-    token = request.args.get("token")¶+    token = request.headers.get("X-Token") § (json){"cell_type": "code", "execution_count": «int:1-90», "id": "«hex:8»", "metadata": {}, "source": ["password_input = getpass()"]} § (text)gpg: Signature made «date»¶gpg:                using RSA key «hexu:40»¶Primary key fingerprint: «hexu:4» «hexu:4» «hexu:4» «hexu:4» «hexu:4»  «hexu:4» «hexu:4» «hexu:4» «hexu:4» «hexu:4»
"""

MARK, ROW = re.compile("«([^«»]*)»"), re.compile(" ;; |\n")
LISTS: dict[str, list[str]] = {head: rest.split(" § ") for head, _, rest in (row.partition(": ") for row in ROW.split(LISTS_TABLE.strip("\n")))}
WORDS: list[str] = LISTS["word"]
STICKY = {"user", "org", "repo", "svc", "dom", "host", "db", "port", "path", "file", "pwn", "keyn"}
EXTENSIONS = {"python": "py", "bash": "sh", "dotenv": "env", "hcl": "tf", "csharp": "cs", "ruby": "rb", "text": "txt", "prose": "md", "dockerfile": "Dockerfile"}
JSON_BODIES: list[Callable[[str, str], dict[str, object]]] = [
    lambda t, x: {"title": t, "body": x, "labels": ["bug"]}, lambda t, x: {"body": x}, lambda t, x: {"role": "assistant", "content": x},
    lambda t, x: {"channel": "C02ABCDEF", "text": x, "mrkdwn": True}, lambda t, x: {"action": "opened", "issue": {"number": len(x), "title": t, "body": x, "state": "open"}},
]  # fmt: skip


def _kinds(table: str) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for row in ROW.split(table.strip("\n")):
        if row.startswith("@"):
            head, _, row = row.partition(" ::")
            name, lang, maker, telling = [*head[1:].split(" "), "", ""][:4]
            kinds[name] = (lang, maker, telling, LISTS["V"][:] if telling else [])
        kinds[name][3].extend(row.removeprefix(" ").split(" § ") if row else [])
    return kinds


def _fill(r: Random, text: str, known: dict[str, str]) -> str:
    """Fill every mark, innermost first; names in STICKY and `known` keep their value within one sample."""

    def one(match: re.Match[str]) -> str:
        body: str = match[1]
        head, colon, rest = body.partition(":")
        if colon and head in FUNCS:
            return FUNCS[head](r, rest)
        if "|" in body:
            return r.choice(body.split("|"))
        if body == "ts":
            return "\1"
        if body in known:
            return known[body]
        value = _fill(r, r.choice(LISTS[body]), known)
        if body in STICKY:
            known[body] = value
        return value

    text = text.replace("¶", "\n")
    while "«" in text:
        text = MARK.sub(one, text)
    return text


def _stamp(r: Random, text: str) -> str:
    """Put rising times of one style in the places of the time marks."""
    style, clock, month, day = r.choice(LISTS["stamp"]), r.randrange(80_000_000), r.randint(1, 9), r.randint(1, 28)
    while "\1" in text:
        clock += r.choice((1, 9, 137, 1042, 9310))
        text = text.replace("\1", style.format(m=month, d=day, h=clock // 3600000, n=clock // 60000 % 60, s=clock // 1000 % 60, f=clock % 1000), 1)
    return text


def _surround(r: Random, text: str, lang: str, known: dict[str, str], raw: bool) -> str:
    """Put a text where such texts are found: an issue, a mail, a log, a diff, the JSON body of a request."""
    name = _fill(r, "«svc|main|config|local|«repo»»." + EXTENSIONS.get(lang, lang), known)
    group = lang if lang in ("prose", "log") else "code"
    wrap = _fill(r, r.choice(LISTS["around-" + group]), {**known, "T": "\0", "L": r.choice((lang, "", lang)), "F": name})
    text, whole = _stamp(r, text), _stamp(r, wrap.replace("\0", text))
    if not raw and group == "code" and r.random() < 0.07:
        body = "\n".join("+" + line for line in text.split("\n"))
        return f"--- a/src/{name}\n+++ b/src/{name}\n@@ -{r.randint(1, 90)},2 +{r.randint(1, 90)},{body.count(chr(10)) + 3} @@\n {_fill(r, '# see «issue #|ticket »«int:12-4900»', known)}\n{body}"
    if not raw and r.random() < 0.12:
        body = json.dumps(r.choice(JSON_BODIES)(_fill(r, "«title»", known), whole), ensure_ascii=r.random() < 0.5)
        return r.choice((body, _fill(r, "POST /repos/«org»/«repo»/issues HTTP/1.1\nHost: api.«dom»\nContent-Type: application/json\n\n", known) + body))
    return whole if whole.count("\n") < 30 else text


def _side(r: Random, kinds: dict[str, Kind], count: int) -> list[Sample]:
    """`count` samples spread evenly over the kinds; a text whose frame was there already is drawn again."""
    order, samples, seen = r.sample(sorted(kinds), len(kinds)), [], set()
    plans = {name: r.sample(kind[3], len(kind[3])) for name, kind in kinds.items()}
    for i in range(count):
        name, turn = order[i % len(order)], i // len(order)
        (place, maker, telling, _), text, secret = kinds[name], "", ""
        for _ in range(40):
            own = re.match(r"\((\w+)\)(.*)", plan := plans[name][turn % len(plans[name])], re.DOTALL)
            lang, template = (own[1], own[2]) if own else (place.rstrip("!"), plan)
            secret = MAKERS[maker](r) if maker else ""
            known = {"S": secret, "NAME": r.choice(telling.split("|"))}
            text = _surround(r, _fill(r, template, known), lang, known, place.endswith("!"))
            frame = name + re.sub(r"[\w+/=.-]{14,}|\d+", "#", text.replace(secret or "\0", "#"))
            if frame not in seen:
                break
        seen.add(frame)
        samples.append(Sample(name, text, secret))
    return r.sample(samples, count)


SECRETS, HARMLESS = _kinds(SECRETS_TABLE), _kinds(HARMLESS_TABLE)


def corpus(seed: int, count: int = 300) -> tuple[list[Sample], list[Sample]]:
    """`count` texts with one planted secret each and `count` harmless ones; equal seeds give equal texts."""
    r = random.Random(seed)
    return _side(r, SECRETS, count), _side(r, HARMLESS, count)


if __name__ == "__main__":
    for title, side in zip(("secret", "harmless"), corpus(int(sys.argv[1]) if len(sys.argv) > 1 else 1), strict=True):
        print(f"== {title}: {len(side)} samples", dict(sorted(Counter(s.kind for s in side).items())))
        for sample in side[:4]:
            print(f"-- {sample.kind} {sample.secret[:60]!r}\n{sample.text}")
