# The author of this corpus had not read the rules of this project: it measures them from outside.
# Do not change it to fit the rules; mend only what is wrong with the corpus itself.
"""Third blind corpus for a secrets scanner: `corpus(seed)` gives 300 texts with one planted secret and 300 harmless ones.

A table is text: a line `@@ class` opens a class, lines `%%` stand between its texts. In a text `«gen args»` is a random
value, `«S gen args»` the planted secret, `«S gen args; enc»` the secret written in an encoding, `«S»` the secret again.
The vendor table (`class NAME gen args`) is put into one of the hand-written `CARRIERS`. Every value is made by the
program from the seed, or by hand for this file: none of them ever opened anything.

`SECRETS` and `HARMLESS` hold the corpus of the default seed. `python -m tests.chaos.third_blind_secrets` checks it and prints the classes.
"""

from __future__ import annotations

import base64
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

SEED, SIZE = 30317, 300
LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, HEX, BECH32 = DIGITS + UPPER + LOWER, "0123456789abcdef", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
WHOLE = """rc-files shell sentence docker-kube placeholders-angle env-references dummy-values masked code-names
sentences""".split()  # the classes that `drawn` leaves whole


@dataclass(frozen=True)
class Sample:
    """One text of the corpus; `secret` is the planted secret before any encoding, "" for a harmless text."""

    kind: str
    text: str
    secret: str = ""


# ---------------------------------------------------------------------------------------------------- random values

WORDS = """amber anvil badger basalt birch bison bramble brook candle canyon cedar cobalt copper coral crane cricket
dapple delta dune ember falcon fennel ferry flint garnet glacier granite harbor hazel heron indigo juniper kestrel
lantern larch lichen linden magnet maple marble meadow mirror mosaic nettle nickel oakum orbit osprey otter pebble
pepper pigeon poplar quartz quiver raven ridge river saddle saffron sorrel sparrow spruce stone summit swallow tansy
thistle timber tundra umber velvet violet walnut willow winter zephyr""".split()
NAMES = "alice bob carla dmitri esther farid greta hugo ines jonas katya liam mina noor oskar petra".split()
USERS = "svc_deploy app_rw ci-bot reporting backup jenkins grafana_ro etl root admin webapp batch sync_user".split()
HOSTS = """db.internal.acme.io pg-main.prod.local 10.20.4.17 mysql-01.corp.lan mq.eu-west.acme.net cache-3.prod.svc
ldap.corp.lan nexus.corp.lan git.corp.lan 192.168.7.30 warehouse.acme.io smtp.acme.io""".split()


def chars(r: Random, alphabet: str, n: int) -> str:
    return "".join(r.choice(alphabet) for _ in range(n))


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def b64u(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def checked(r: Random, prefix: str) -> str:
    """A token of GitHub's or npm's shape: 30 characters and their CRC32 in base 62."""
    body, crc, tail = chars(r, ALNUM, 30), 0, ""
    crc = zlib.crc32(body.encode())
    base62 = DIGITS + UPPER + LOWER
    while crc:
        crc, digit = divmod(crc, 62)
        tail = base62[digit] + tail
    return prefix + body + tail.rjust(6, "0")


def strong(r: Random, n: int, signs: str = "!#%*-_+=.^~") -> str:
    """A random password with a sign, a digit and both cases, that does not begin or end with a sign."""
    while True:
        value = chars(r, ALNUM, 1) + chars(r, ALNUM + signs + signs, n - 2) + chars(r, ALNUM, 1)
        if all(any(c in group for c in value) for group in (signs, DIGITS, UPPER, LOWER)):
            return value


def human(r: Random) -> str:
    """A password as people make them."""
    a, b = r.sample(WORDS, 2)
    leet = a.translate(str.maketrans("aeio", "4310"))
    return r.choice(
        [
            f"{a.capitalize()}{r.randrange(1950, 2027)}{r.choice('!#*.')}",
            f"{a}{b.capitalize()}{r.randrange(10, 999)}",
            f"{leet.capitalize()}_{b}{r.randrange(10, 99)}",
            f"{a.capitalize()}-{b.capitalize()}-{r.randrange(10, 99)}",
            f"{leet}{r.choice('!#*')}{b.capitalize()}{r.randrange(1, 9)}",
        ]
    )


def jwt(r: Random, alg: str = "HS256") -> str:
    head = {"alg": alg, "typ": "JWT"} if alg == "HS256" else {"alg": alg, "kid": chars(r, ALNUM, 11), "typ": "JWT"}
    iat = r.randrange(1690000000, 1760000000)
    body = {"sub": str(r.randrange(10**6, 10**8)), "name": r.choice(NAMES), "iat": iat, "exp": iat + 86400 * 90}
    parts = [b64u(json.dumps(p, separators=(",", ":")).encode()) for p in (head, body)]
    return ".".join([*parts, b64u(r.randbytes(32 if alg == "HS256" else 128))])


def pem(r: Random, start: str, lines: int, width: int = 64) -> str:
    """Lines of base64 that begin like real DER; the last one is shorter."""
    text = start + chars(r, ALNUM + "+/", width * (lines - 1) + r.randrange(20, 50) // 4 * 4 - len(start))
    text += "=" * (-len(text) % 4)
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))


GENS: dict[str, Callable[..., str]] = {
    "hex": lambda r, n: chars(r, HEX, int(n)),
    "HEX": lambda r, n: chars(r, HEX.upper(), int(n)),
    "dig": lambda r, n: r.choice("123456789") + chars(r, DIGITS, int(n) - 1),
    "a": lambda r, n: chars(r, ALNUM, int(n)),
    "lo": lambda r, n: chars(r, LOWER + DIGITS, int(n)),
    "up": lambda r, n: chars(r, UPPER + DIGITS, int(n)),
    "let": lambda r, n: chars(r, LOWER + UPPER, int(n)),
    "u": lambda r, n: chars(r, ALNUM + "-_", int(n)),
    "b32": lambda r, n: chars(r, UPPER + "234567", int(n)),
    "b32l": lambda r, n: chars(r, LOWER + "234567", int(n)),
    "bech": lambda r, n: chars(r, BECH32, int(n)),
    "BECH": lambda r, n: chars(r, BECH32.upper(), int(n)),
    "b64n": lambda r, n: b64(r.randbytes(int(n))).rstrip("="),
    "b64": lambda r, n: b64(r.randbytes(int(n))),
    "b64u": lambda r, n: b64u(r.randbytes(int(n))),
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
    "word": lambda r: r.choice(WORDS),
    "name": lambda r: r.choice(NAMES),
    "user": lambda r: r.choice(USERS),
    "host": lambda r: r.choice(HOSTS),
    "int": lambda r, lo, hi: str(r.randrange(int(lo), int(hi))),
    "pick": lambda r, *options: r.choice(options),
    "lit": lambda _, *parts: " ".join(parts),
    "pw": lambda r, n: strong(r, int(n)),
    "upw": lambda r, n: strong(r, int(n), "-._~!*"),
    "hpw": human,
    "phrase": lambda r, sep, n: sep.join(r.sample(WORDS, int(n))),
    "crc": checked,
    "jwt": jwt,
    "pem": lambda r, start, n: pem(r, start, int(n)),
    "pem64": lambda r, what, start: b64(
        "-----BEGIN {0}-----\n{1}\n-----END {0}-----\n".format(what.replace("_", " "), pem(r, start, 4)).encode()
    ),
    # whole tokens of vendors: prefix and parts
    "patfine": lambda r: f"github_pat_{chars(r, ALNUM, 22)}_{chars(r, ALNUM, 59)}",
    "openai": lambda r, p, n: f"{p}{chars(r, ALNUM, int(n))}T3BlbkFJ{chars(r, ALNUM, int(n))}",
    "antkey": lambda r: f"sk-ant-api03-{chars(r, ALNUM + '-_', 93)}AA",
    "pre": lambda r, p, gen, n: p + GENS[gen](r, n),
    "discord": lambda r: f"{b64u(str(r.randrange(10**17, 10**18)).encode())}.{chars(r, ALNUM, 6)}.{chars(r, ALNUM + '-_', 38)}",
    "sntrys": lambda r: (
        "sntrys_" + b64(json.dumps({"iat": 1719392000.5, "url": "https://sentry.io", "org": "acme"}).encode()).rstrip("=")
        + "_" + chars(r, ALNUM + "+/", 43)
    ),
    "png": lambda r, n: "iVBORw0KGgoAAAANSUhEUgAAA" + b64(r.randbytes(int(n))),
}


def part_of(r: Random, part: str) -> str:
    """`dig:12` is twelve digits, anything without a colon stands for itself."""
    gen, colon, n = part.partition(":")
    return GENS[gen](r, *([n] if n else [])) if colon and gen in GENS else part


def spread(text: str, form: str) -> str:
    return "".join(form % ord(c) for c in text)


def quoted_printable(text: str) -> str:
    return "".join(c if c.isalnum() and i % 3 else f"={ord(c):02X}" for i, c in enumerate(text))


def wrapped(text: str, n: str, joint: str) -> str:
    return joint.join(text[i : i + int(n)] for i in range(0, len(text), int(n)))


ENCODINGS: dict[str, Callable[..., str]] = {
    "html": lambda s: spread(s, "&#%d;"),
    "htmlhex": lambda s: spread(s, "&#x%x;"),
    "htmlsome": lambda s: "".join(f"&#{ord(c)};" if not c.isalnum() else c for c in s),
    "x": lambda s: spread(s, "\\x%02x"),
    "uni": lambda s: spread(s, "\\u%04x"),
    "oct": lambda s: spread(s, "\\%03o"),
    "first": lambda s: f"\\u{ord(s[0]):04x}" + s[1:],
    "url": lambda s: urllib.parse.quote(s, safe=""),
    "urlall": lambda s: spread(s, "%%%02X"),
    "twice": lambda s: urllib.parse.quote(urllib.parse.quote(s, safe=""), safe=""),
    "b64": lambda s: b64(s.encode()),
    "b64u": lambda s: b64u(s.encode()),
    "pair": lambda s, user: b64(f"{user}:{s}".encode()),
    "env64": lambda s, key: b64(f"{key}={s}\n".encode()),
    "hexed": lambda s: s.encode().hex(),
    "spaced": lambda s: s.encode().hex(" "),
    "dec": lambda s: ", ".join(str(ord(c)) for c in s),
    "qp": quoted_printable,
    "nl": lambda s: s.replace("\n", "\\n"),
    "in2": lambda s: s.replace("\n", "\n  "),
    "in4": lambda s: s.replace("\n", "\n    "),
    "gt": lambda s: s.replace("\n", "\n> "),
    "split": lambda s, n: wrapped(s, n, '" +\n        "'),
    "lines": lambda s, n: wrapped(s, n, "\n  "),
    "back": lambda s, n: wrapped(s, n, "\\\n"),
    "bits": lambda s, n: wrapped(s, n, '", "'),
}

# ------------------------------------------------------------------------------------------------ tables of secrets

VENDORS = """
vendor-git GITHUB_TOKEN crc ghp_
vendor-git GH_TOKEN crc gho_
vendor-git GITHUB_TOKEN crc ghs_
vendor-git GH_PAT patfine
vendor-git GITLAB_TOKEN pre glpat- u 20
vendor-git CI_DEPLOY_TOKEN pre gldt- u 20
vendor-git RUNNER_TOKEN pre glrt- u 20
vendor-git BITBUCKET_APP_PASSWORD pre ATBB a 32
vendor-git JIRA_API_TOKEN join = ATATT3xFfGF0@u:172 HEX:8
vendor-git AZURE_DEVOPS_EXT_PAT b32l 52
vendor-ai OPENAI_API_KEY openai sk- 20
vendor-ai OPENAI_API_KEY openai sk-proj- 74
vendor-ai ANTHROPIC_API_KEY antkey
vendor-ai HF_TOKEN pre hf_ let 34
vendor-ai GROQ_API_KEY pre gsk_ a 52
vendor-ai REPLICATE_API_TOKEN pre r8_ a 37
vendor-ai PPLX_API_KEY pre pplx- a 48
vendor-ai OPENROUTER_API_KEY pre sk-or-v1- hex 64
vendor-ai GEMINI_API_KEY pre AIza u 35
vendor-ai MISTRAL_API_KEY a 32
vendor-chat SLACK_BOT_TOKEN join - xoxb dig:12 dig:13 a:24
vendor-chat SLACK_USER_TOKEN join - xoxp dig:12 dig:12 dig:13 hex:32
vendor-chat SLACK_APP_TOKEN join - xapp 1 A@up:10 dig:13 hex:64
vendor-chat SLACK_WEBHOOK join / https://hooks.slack.com/services T@up:8 B@up:10 a:24
vendor-chat DISCORD_TOKEN discord
vendor-chat DISCORD_WEBHOOK_URL join / https://discord.com/api/webhooks dig:18 u:68
vendor-chat TELEGRAM_BOT_TOKEN join : dig:10 AAF@u:32
vendor-chat TWILIO_AUTH_TOKEN hex 32
vendor-pay STRIPE_SECRET_KEY pre sk_live_ a 24
vendor-pay STRIPE_RESTRICTED_KEY pre rk_live_ a 99
vendor-pay STRIPE_WEBHOOK_SECRET pre whsec_ a 32
vendor-pay SQUARE_ACCESS_TOKEN pre EAAA u 60
vendor-pay SHOPIFY_ACCESS_TOKEN pre shpat_ hex 32
vendor-pay SHOPIFY_API_SECRET pre shpss_ hex 32
vendor-pay PLAID_ACCESS_TOKEN join - access production uuid:
vendor-pay FLW_SECRET_KEY join - FLWSECK hex:32 X
vendor-mail SENDGRID_API_KEY join . SG u:22 u:43
vendor-mail MAILGUN_API_KEY pre key- hex 32
vendor-mail MAILCHIMP_API_KEY join - hex:32 us14
vendor-mail BREVO_API_KEY join - xkeysib hex:64 a:16
vendor-mail RESEND_API_KEY join _ re a:8 a:24
vendor-mail POSTMARK_SERVER_TOKEN uuid
vendor-package NPM_TOKEN crc npm_
vendor-package PYPI_API_TOKEN pre pypi-AgEIcHlwaS5vcmc u 150
vendor-package GEM_HOST_API_KEY pre rubygems_ hex 48
vendor-package DOCKERHUB_TOKEN pre dckr_pat_ u 27
vendor-package NUGET_API_KEY pre oy2 b32l 43
vendor-package CARGO_REGISTRY_TOKEN pre cio a 32
vendor-package ARTIFACTORY_API_KEY pre AKCp a 69
vendor-ops DIGITALOCEAN_TOKEN pre dop_v1_ hex 64
vendor-ops VAULT_TOKEN pre hvs.CAESI u 90
vendor-ops TFE_TOKEN join .atlasv1. a:14 a:67
vendor-ops GRAFANA_TOKEN join _ glsa a:32 hex:8
vendor-ops SENTRY_AUTH_TOKEN sntrys
vendor-ops NEW_RELIC_API_KEY pre NRAK- up 27
vendor-ops DATABRICKS_TOKEN pre dapi hex 32
vendor-ops PULUMI_ACCESS_TOKEN pre pul- hex 40
vendor-ops TS_AUTHKEY join - tskey auth kQ7@a:6@CNTRL a:32
vendor-ops DOPPLER_TOKEN pre dp.pt. a 43
vendor-ops DD_API_KEY hex 32
vendor-saas LINEAR_API_KEY pre lin_api_ a 40
vendor-saas FIGMA_TOKEN pre figd_ u 40
vendor-saas NOTION_TOKEN pre ntn_ a 46
vendor-saas POSTMAN_API_KEY join - PMAK hex:24 hex:34
vendor-saas SUPABASE_ACCESS_TOKEN pre sbp_ hex 40
vendor-saas CONTENTFUL_MANAGEMENT_TOKEN pre CFPAT- u 43
vendor-saas HEROKU_API_KEY uuid
vendor-saas PLANETSCALE_PASSWORD pre pscale_pw_ u 43
vendor-saas BUILDKITE_TOKEN pre bkua_ hex 40
vendor-saas AIRTABLE_PAT join . pat@a:14 hex:64
vendor-saas NETLIFY_AUTH_TOKEN pre nfp_ a 36
"""

CARRIERS = """
%%
«NAME»=«S»
%%
export «NAME»="«S»"
%%
  - name: «NAME»
    value: «S»
%%
{"«name»": "«S»", "retries": 3, "timeout_ms": 30000}
%%
Hi, I get 401 for every call since this morning. My «name» is `«S»`, it worked last week. Anything changed on your side?
%%
const client = new Client({ «camel»: '«S»', baseURL: process.env.BASE_URL });
%%
+«NAME» = "«S»"
%%
«S»
%%
curl -sS -H "Authorization: Bearer «S»" https://api.example.net/v2/items | jq .
%%
2025-03-14T09:12:44.018Z DEBUG http: --> POST /v1/run (authorization: Bearer «S») 214 bytes
%%
[«name»]
value = «S»
%%
| variable | value |
|---|---|
| `«NAME»` | `«S»` |
%%
docker run --rm -e «NAME»=«S» -v "$PWD:/src" images.example.com/acme/runner:2.4
%%
try it with this one for now (revoke after): «S» thx
%%
    os.environ["«NAME»"] = "«S»"
%%
«NAME»: '«S»'   # TODO move to the vault
%%
Set-Item Env:«NAME» "«S»"
%%
<add key="«NAME»" value="«S»" />
%%
#define «NAME» "«S»"
%%
Run env
  env:
    «NAME»: «S»
    CI: true
%%
steps to reproduce:
1. `«NAME»=«S» make deploy`
2. wait
%%
static final String «NAME» = "«S»";
%%
setx «NAME» «S» /M
%%
System.setenv("«NAME»", "«S»", 1)
%%
$«name» = "«S»";
%%
GET /api/v4/projects?private_token=«S»&per_page=100 HTTP/1.1
%%
fatal: unable to access 'https://oauth2:«S»@git.corp.lan/team/app.git/': The requested URL returned error: 403
%%
"env": [ "PATH=/usr/bin:/bin", "«NAME»=«S»", "LANG=C.UTF-8" ]
%%
set -gx «NAME» «S»
%%
(setenv "«NAME»" "«S»")
%%
ARG «NAME»=«S»
RUN ./install.sh
%%
«name» => "«S»",
"""

SECRET_TEXTS = r"""
@@ cloud-aws
[default]
aws_access_key_id = AKIA«b32 16»
aws_secret_access_key = «S b64 30»
region = eu-central-1
%%
export AWS_ACCESS_KEY_ID=ASIA«b32 16» AWS_SECRET_ACCESS_KEY=«S b64 30»
%%
aws configure set aws_secret_access_key «S b64 30» --profile staging
%%
s3 = boto3.client("s3", "AKIA«b32 16»", "«S b64 30»")
%%
{"AccessKeyId": "ASIA«b32 16»", "SecretAccessKey": "«S b64 30»", "Expiration": "2025-06-01T10:00:00Z"}
%%
aws_session_token = FwoGZXIvYXdzE«S b64 200»
%%
new AWS.Credentials({accessKeyId: 'AKIA«b32 16»', secretAccessKey: '«S b64 30»'})
%%
rclone config create remote s3 provider=AWS access_key_id=AKIA«b32 16» secret_access_key=«S b64 30»
@@ cloud-azure
DefaultEndpointsProtocol=https;AccountName=acmestore;AccountKey=«S b64 64»;EndpointSuffix=core.windows.net
%%
Endpoint=sb://acme-prod.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=«S b64 32»
%%
az login --service-principal -u «uuid» -p «S join 8Q~ a:3 u:31» --tenant «uuid»
%%
AZURE_CLIENT_SECRET: "«S join 8Q~ a:3 u:31»"
%%
HostName=plant7.azure-devices.net;DeviceId=pump-11;SharedAccessKey=«S b64 32»
%%
AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«S b64 64»;
%%
"clientId": "«uuid»",
"clientSecret": "«S join 8Q~ a:3 u:31»",
"subscriptionId": "«uuid»"
@@ cloud-gcp
{
  "type": "service_account",
  "project_id": "acme-«word»-«int 1000 9999»",
  "private_key_id": "«hex 40»",
  "private_key": "-----BEGIN PRIVATE KEY-----\n«S pem MIIEvQIBADANBgkqhkiG9w0BAQEFAASC 4; nl»\n-----END PRIVATE KEY-----\n",
  "client_email": "ci@acme.iam.gserviceaccount.com"
}
%%
client_secret: «S pre GOCSPX- u 28»
%%
Authorization: Bearer «S pre ya29.a0 u 150»
%%
"refresh_token": "1//0«S u 100»",
"token_uri": "https://oauth2.googleapis.com/token"
%%
gsutil config -> secret: «S b64 30» (access id GOOG1E«up 55»)
%%
curl "https://translation.googleapis.com/language/translate/v2?key=«S pre AIza u 35»" -d q=hello -d target=de
@@ cloud-other
ALIBABA_CLOUD_ACCESS_KEY_ID=LTAI5t«a 18»
ALIBABA_CLOUD_ACCESS_KEY_SECRET=«S a 30»
%%
tencentcloud: {secretId: AKID«a 32», secretKey: «S a 32»}
%%
yc: iam token «S join . t1 u:40 u:86»
%%
ibmcloud login --apikey «S u 44» -r eu-de
%%
OS_USERNAME=ops
OS_PASSWORD=«S pw 18»
OS_AUTH_URL=https://keystone.corp.lan:5000/v3
%%
[ovh]
application_key=«hex 16»
application_secret=«S hex 32»
@@ dsn-sql
DATABASE_URL=postgres://«user»:«S upw 16»@«host»:5432/billing?sslmode=require
%%
create_engine("mysql+pymysql://«user»:«S upw 14»@«host»/orders?charset=utf8mb4")
%%
Server=«host»,1433;Database=Crm;User Id=sa;Password=«S pw 14»;TrustServerCertificate=True
%%
host=«host» port=5432 dbname=app user=«user» password=«S hpw» connect_timeout=10
%%
jdbc:mysql://«host»:3306/shop?user=«user»&password=«S upw 12»&useSSL=false
%%
Driver={ODBC Driver 18 for SQL Server};Server=«host»;UID=«user»;PWD=«S pw 15»;Encrypt=yes
%%
sqlplus «user»/«S a 14»@//«host»:1521/ORCLPDB1
%%
jdbc:oracle:thin:«user»/«S a 13»@«host»:1521:XE
%%
"ConnectionStrings": { "Main": "Data Source=«host»;Initial Catalog=Hr;Persist Security Info=True;User ID=«user»;pwd=«S hpw»" }
%%
db, err := sql.Open("mysql", "«user»:«S upw 16»@tcp(«host»:3306)/wallet?parseTime=true")
%%
clickhouse://«user»:«S upw 18»@«host»:9440/events?secure=true
@@ dsn-other
mongodb+srv://«user»:«S upw 16»@cluster0.«lo 5».mongodb.net/?retryWrites=true&w=majority
%%
REDIS_URL=redis://:«S a 32»@«host»:6379/0
%%
broker_url = 'amqp://«user»:«S upw 14»@«host»:5672/%2Fprod'
%%
ftp://«name»:«S upw 11»@ftp.acme.io/outgoing/
%%
smtp://postmaster%40acme.io:«S upw 16»@«host»:587
%%
rediss://default:«S a 40»@eu1-«word»-«dig 5».upstash.io:6380
%%
elasticsearch hosts: ["https://elastic:«S a 20»@«host»:9200"]
%%
git clone https://«name»:«S upw 20»@git.corp.lan/infra/terraform.git
%%
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="«user»" password="«S pw 20»";
%%
pip install --index-url https://«user»:«S a 24»@nexus.corp.lan/repository/pypi/simple acme-core
%%
proxy = http://«name»:«S upw 10»@proxy.corp.lan:3128
@@ yaml
database:
  host: «host»
  username: «user»
  password: «S pw 16»
  pool: 20
%%
smtp: {host: smtp.acme.io, user: robot, pass: "«S pw 14»"}
%%
api_key:
  «S a 40»
%%
credentials:
  - type: basic
    login: «user»
    secret: '«S pw 20»'
%%
auth:
  client_secret: >-
    «S a 48»
%%
jwt-signing-key: !!str «S b64 32»
%%
users:
  «name»:
    passwd: «S hpw»
    groups: [wheel]
%%
spring.datasource.password: «S pw 17» # rotated 2025-02-03
@@ json
{"user": "«user»", "password": "«S pw 16»", "ttl": 3600}
%%
{
  "token":
    "«S a 36»"
}
%%
"auth": {"type": "apikey", "apikey": [{"key": "value", "value": "«S u 40»"}, {"key": "key", "value": "X-Api-Key"}]}
%%
{"access_token":"«S a 64»","token_type":"bearer","expires_in":7199,"scope":"read write"}
%%
{\"username\":\"«user»\",\"password\":\"«S hpw»\"}
%%
{"name": "DB_PASSWORD", "value": "«S pw 18»", "secure": false}
%%
{ "sessionSecret" : "«S b64 24»", "cookieMaxAge": 86400000 }
%%
"headers": [["x-api-key", "«S a 40»"], ["accept", "*/*"]]
@@ toml
[database]
user = "«user»"
password = "«S pw 18»"
%%
secret_key = '''«S u 50»'''
%%
[sources.acme]
auth = { username = "«user»", password = "«S hpw»" }
%%
[registries.internal]
index = "sparse+https://nexus.corp.lan/cargo/"
token = "Bearer «S a 44»"
%%
bot.token = "«S u 59»"
@@ ini
[client]
user=«user»
password=«S pw 14»
%%
[mail]
SmtpUser = robot@acme.io
SmtpPass = «S hpw»
%%
; uWSGI
env = SECRET_KEY=«S u 50»
%%
[ldap]
bind_dn = cn=svc,dc=corp,dc=lan
bind_password = "«S pw 16»"
%%
[wifi-security]
key-mgmt=wpa-psk
psk=«S hpw»
%%
[sip]
secret=«S a 16»
context=internal
@@ xml
<server><id>releases</id><username>«user»</username><password>«S pw 15»</password></server>
%%
<add key="ApiKey" value="«S a 32»"/>
%%
<datasource jndi-name="java:/AppDS">
  <security user-name="«user»" password="«S pw 16»"/>
</datasource>
%%
<property name="hibernate.connection.password">«S hpw»</property>
%%
<wsse:UsernameToken><wsse:Username>«user»</wsse:Username><wsse:Password Type="PasswordText">«S pw 14»</wsse:Password></wsse:UsernameToken>
%%
<string name="api_secret">«S a 40»</string>
%%
<key>AuthToken</key>
<string>«S a 48»</string>
%%
<param name="Password"><![CDATA[«S pw 16»]]></param>
@@ properties
spring.mail.password=«S pw 16»
%%
db.passwd: «S hpw»
%%
jwt.secret = «S b64 48»
%%
keystore.password=«S a 12»
keystore.path=/etc/ssl/app.jks
%%
ftp.pwd=«S hpw»
%%
sonar.login=«S pre squ_ hex 40»
@@ dotenv
APP_ENV=production
APP_KEY=base64:«S b64 32»
%%
DB_PASSWORD="«S pw 20»"
%%
SECRET_KEY_BASE=«S hex 128»
%%
MAIL_PASSWORD='«S hpw»' # mailbox robot@
%%
export ADMIN_PASS=«S pw 13»
%%
VITE_AUTH0_CLIENT_SECRET=«S u 64»
%%
NEXTAUTH_SECRET=«S b64 32»
NEXTAUTH_URL=http://localhost:3000
%%
ENCRYPTION_KEY=«S hex 64»
@@ rc-files
machine git.corp.lan
login «name»
password «S a 20»
%%
machine api.heroku.com login «name»@acme.io password «S uuid»
%%
«host»:5432:*:«user»:«S upw 16»
%%
//npm.corp.lan/:_authToken=«S uuid»
%%
_auth=«S pw 12; pair deploy»
always-auth=true
%%
[pypi]
username = __token__
password = «S pre pypi-AgEIcHlwaS5vcmcCJ u 140»
%%
[mysqldump]
user = backup
password = «S a 18»
%%
https://«name»:«S a 30»@bitbucket.org
%%
user = "«name»:«S pw 14»"
# ^ from ~/.curlrc
%%
defaults
account acme
host smtp.acme.io
user robot
password «S pw 14»
%%
npmAuthToken: "«S pre glpat- u 20»"
@@ docker-kube
{"auths": {"https://index.example.com/v1/": {"auth": "«S upw 16; pair acmebot»"}}}
%%
ENV API_KEY «S a 40»
%%
apiVersion: v1
kind: Secret
metadata: {name: db}
data:
  password: «S pw 16; b64»
%%
users:
- name: admin
  user:
    token: «S jwt RS256»
%%
kubectl create secret generic db --from-literal=username=app --from-literal=password='«S pw 16»'
%%
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: «S a 22»
%%
- user: {client-key-data: «S pem64 RSA_PRIVATE_KEY MIIEowIBAAKCAQEA»}
%%
docker login registry.corp.lan -u «user» -p «S a 24»
@@ terraform-helm
variable "db_password" {
  type    = string
  default = "«S pw 18»"
}
%%
provider "cloudflare" {
  email   = "ops@acme.io"
  api_key = "«S hex 37»"
}
%%
helm upgrade --install app ./chart --set postgresql.auth.password=«S a 20» --wait
%%
grafana:
  adminUser: admin
  adminPassword: «S hpw»
%%
resource "aws_db_instance" "main" {
  username             = "root"
  password             = "«S pw 16»"
  skip_final_snapshot  = true
}
%%
"attributes": {"id": "db-«hex 8»", "master_password": "«S pw 20»", "port": 5432},
%%
+ admin_password = "«S hpw»" # forces replacement
@@ build-ansible
mvn deploy -Dnexus.user=«user» -Dnexus.password=«S pw 14» -DskipTests
%%
signingConfigs { release { storePassword "«S a 14»"; keyAlias "upload"; keyPassword "«S»" } }
%%
maven { url = uri("https://nexus.corp.lan"); credentials { username = "«user»"; password = "«S hpw»" } }
%%
db1 ansible_host=10.0.3.4 ansible_user=root ansible_ssh_pass=«S pw 13»
%%
- name: create user
  mysql_user: name=«user» password=«S a 16» priv=*.*:ALL state=present
%%
credentials += Credentials("Sonatype Nexus", "oss.sonatype.org", "«user»", "«S a 22»")
%%
lane :beta do
  ENV["FASTLANE_PASSWORD"] = "«S hpw»"
end
@@ sql
CREATE USER «user» IDENTIFIED BY '«S pw 16»';
%%
ALTER ROLE reporting WITH LOGIN PASSWORD '«S pw 15»';
%%
GRANT ALL ON shop.* TO 'web'@'%' IDENTIFIED BY '«S hpw»';
%%
CREATE LOGIN etl WITH PASSWORD = N'«S pw 18»', CHECK_POLICY = OFF;
%%
INSERT INTO settings (name, value) VALUES ('smtp_password', '«S pw 14»');
%%
SET PASSWORD FOR 'bob'@'localhost' = PASSWORD('«S hpw»');
%%
UPDATE users SET api_token = '«S a 60»' WHERE id = 7;
@@ shell
mysql -u root -p«S a 14» -h «host» shop < dump.sql
%%
sshpass -p '«S pw 12»' ssh -o StrictHostKeyChecking=no root@10.0.0.5 uptime
%%
PGPASSWORD=«S pw 14» pg_dump -h «host» -U «user» app | gzip > app.sql.gz
%%
echo '«S hpw»' | sudo -S systemctl restart nginx
%%
openssl rsa -in server.key -passin pass:«S a 16» -out plain.key
%%
redis-cli -h «host» -a «S a 28» ping
%%
echo "«name»:«S hpw»" | chpasswd
%%
wget --user=«name» --password='«S pw 12»' https://files.corp.lan/nightly.tar.gz
%%
smbclient //nas/share -U 'CORP\«name»%«S hpw»'
%%
7z x backup.7z -p«S a 15» -o/tmp/restore
%%
rsync --password-file=<(echo «S hpw») rsync@«host»::data .
%%
net use Z: \\nas\share /user:CORP\«name» «S pw 12»
@@ curl
curl -u «name»:«S a 18» https://api.corp.lan/health
%%
curl -H 'X-API-Key: «S a 40»' https://api.corp.lan/v1/me
%%
curl -X POST https://auth.corp.lan/oauth/token -d 'grant_type=client_credentials&client_id=web&client_secret=«S a 40»'
%%
curl --user "admin:«S hpw»" -k https://«host»/rest/config
%%
curl -s https://api.corp.lan/login --json '{"email":"«name»@acme.io","password":"«S hpw»"}'
%%
http POST api.corp.lan/items "Authorization: Token «S hex 40»" name=x
%%
curl -b "session=«S u 43»" https://app.corp.lan/export.csv
%%
Invoke-RestMethod https://api.corp.lan -Headers @{ "Ocp-Apim-Subscription-Key" = "«S hex 32»" }
@@ http
POST /v1/charges HTTP/1.1
Host: api.corp.lan
Authorization: Basic «S a 24; pair svc»
%%
> Authorization: Basic «S hpw; pair admin»
< HTTP/1.1 401 Unauthorized
%%
Proxy-Authorization: Basic «S pw 12; pair corp\jonas»
%%
PRIVATE-TOKEN: «S u 20»
%%
Authorization: Token token="«S hex 40»", email="«name»@acme.io"
%%
X-Vault-Token: «S pre s. a 24»
%%
username=«name»&password=«S hpw»&remember=1&submit=Log+in
@@ cookies
Cookie: _ga=GA1.2.«dig 9».«dig 10»; sessionid=«S lo 32»; theme=dark
%%
Set-Cookie: connect.sid=s%3A«S u 32».«b64u 32»; Path=/; HttpOnly
%%
Set-Cookie: JSESSIONID=«S HEX 32».node7; Path=/app; Secure
%%
document.cookie = "auth_token=«S u 48»; path=/";
%%
Cookie: PHPSESSID=«S lo 26»; lang=de
%%
.corp.lan	TRUE	/	TRUE	1893456000	user_session	«S u 48»
@@ jwt
token: «S jwt HS256»
%%
GET /ws?access_token=«S jwt HS256» 101
%%
Authorization: Bearer «S jwt RS256»
%%
localStorage.setItem('id_token', '«S jwt RS256»')
%%
pasting the whole thing, jwt.io says the signature is fine:

«S jwt HS256»
@@ private-key
-----BEGIN RSA PRIVATE KEY-----
«S pem MIIEowIBAAKCAQEA 5»
-----END RSA PRIVATE KEY-----
%%
-----BEGIN OPENSSH PRIVATE KEY-----
«S pem b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW 4»
-----END OPENSSH PRIVATE KEY-----
%%
> -----BEGIN EC PRIVATE KEY-----
> «S pem MHcCAQEEI 3; gt»
> -----END EC PRIVATE KEY-----
%%
PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\n«S pem MIIEvAIBADANBgkqhkiG9w0BAQEFAASC 4; nl»\n-----END PRIVATE KEY-----"
%%
# created: 2025-01-20T10:11:12Z
# public key: age1«bech 58»
AGE-SECRET-KEY-1«S BECH 58»
%%
-----BEGIN PGP PRIVATE KEY BLOCK-----

«S pem lQOYBGX 4»
=«a 4»
-----END PGP PRIVATE KEY BLOCK-----
%%
[Interface]
PrivateKey = «S b64 32»
Address = 10.8.0.2/24
%%
deployer wallet private key 0x«S hex 64» (Sepolia only)
@@ signed-url
https://acme.s3.amazonaws.com/dump.sql?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA«b32 16»%2F20250301%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Expires=604800&X-Amz-Signature=«S hex 64»
%%
https://acmestore.blob.core.windows.net/b/x.zip?sv=2022-11-02&sr=b&sp=r&se=2026-01-01T00%3A00%3A00Z&sig=«S b64 32; url»
%%
https://storage.googleapis.com/acme/x.tgz?GoogleAccessId=ci%40acme.iam.gserviceaccount.com&Expires=1767225600&Signature=«S b64 128; url»
%%
https://d111.cloudfront.net/v.mp4?Expires=1767225600&Signature=«S u 120»__&Key-Pair-Id=K«up 13»
%%
https://app.corp.lan/reset?email=«name»%40acme.io&token=«S u 43»
%%
wss://stream.corp.lan/live?apikey=«S a 32»&chan=4
%%
https://prod-12.westeurope.logic.azure.com/workflows/«hex 32»/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=«S u 43»
@@ sentence
the password is «S hpw», please change it after the first login
%%
For the staging box use «name» / «S pw 12».
%%
My token is «S a 40» and it still says forbidden.
%%
Password for bob: «S hpw»
%%
Login with user admin and password "«S hpw»" on https://demo.corp.lan
%%
I set the root password to «S lit Tr0ub4dor&3x» when I installed it, could that be too short?
%%
The passphrase of the key is «S phrase - 4», do not post it further.
%%
Wifi: Acme-Guest, PW: «S hpw»
%%
API key (test tenant) - «S hex 32» - valid until Friday
%%
we rotated the client secret; new one: «S u 40»
%%
credentials: «name»@acme.io:«S hpw»
%%
PIN/PUK aside, the vault unseal key 1 was «S b64 33»
@@ sentence-other-languages
Das Passwort lautet «S hpw», bitte danach ändern.
%%
le mot de passe est «S hpw» (compte de démo)
%%
La contraseña del servidor es: «S pw 12»
%%
пароль: «S hpw»
%%
パスワードは «S a 14» です
%%
密码：«S pw 12»
%%
Benutzer: «name», Kennwort: «S pw 12»
%%
a senha do banco é «S hpw»
@@ chat-ticket
<«name»> anyone has the db pw?
<oskar> its «S hpw»
%%
[14:02] petra: key for the sandbox -> «S a 32» :pray:
%%
Subject: access
Username: «name»
Password: «S pw 14»
VPN: vpn.corp.lan
%%
> what did you put for SECRET_KEY?
«S u 50»
%%
### Environment
- OS: Ubuntu 22.04
- Admin login: admin / «S pw 12»
%%
Q: Enter passphrase? A: `«S phrase _ 4»`
@@ code-scripting
password = "«S pw 16»"  # noqa: S105
%%
requests.get(url, auth=("«user»", "«S pw 14»"))
%%
app.config.update(SECRET_KEY=b"«S u 24»", DEBUG=False)
%%
mongoose.connect(uri, { user: 'app', pass: '«S pw 16»' })
%%
axios.defaults.headers.common['x-auth-token'] = `«S a 44»`;
%%
define( 'DB_PASSWORD', '«S pw 14»' );
%%
$pdo = new PDO($dsn, '«user»', '«S pw 14»');
%%
Net::SSH.start(host, 'deploy', password: '«S hpw»') { |s| s.exec! 'ls' }
%%
my $dbh = DBI->connect("DBI:Pg:dbname=app", "«user»", "«S pw 13»") or die;
%%
local api_token <const> = "«S a 40»"
%%
jwt.sign(payload, '«S u 32»', { expiresIn: '1h' })
@@ code-compiled
private static final String PASSWORD = "«S pw 16»";
%%
DriverManager.getConnection(url, "«user»", "«S pw 14»");
%%
var cred = new NetworkCredential("«user»", "«S hpw»", "CORP");
%%
const apiSecret = "«S a 40»" // FIXME
%%
client.SetBasicAuth("«user»", "«S pw 14»")
%%
let token = String::from("«S a 40»");
%%
val storePassword by extra("«S pw 14»")
%%
let apiKey: String = "«S a 32»"
%%
mqtt.setUsernamePassword("sensor", "«S a 16»");
%%
const char *wifi_pass = "«S hpw»";
%%
mysql_real_connect(conn, "«host»", "«user»", "«S pw 14»", "app", 3306, NULL, 0);
@@ code-other
config :app, App.Repo, username: "«user»", password: "«S pw 16»"
%%
con <- dbConnect(RPostgres::Postgres(), user = "«user»", password = "«S pw 14»")
%%
$cred = ConvertTo-SecureString '«S pw 14»' -AsPlainText -Force
%%
val conf = Map("user" -> "«user»", "password" -> "«S pw 14»")
%%
final headers = {'Authorization': 'Bearer «S a 44»'};
%%
(def db {:user "«user»" :password "«S pw 14»"})
%%
Dim strPwd As String: strPwd = "«S hpw»"
%%
{ services.gitea.database.password = "«S pw 16»"; }
@@ encoded-html
token: «S crc ghp_; html»
%%
<code>API_KEY=«S a 40; htmlhex»</code>
%%
&lt;password&gt;«S pw 14»&lt;/password&gt;
%%
password=&quot;«S hpw; htmlsome»&quot; port=&quot;5432&quot;
%%
<td>&quot;secret&quot;: &quot;«S a 36»&quot;</td>
@@ encoded-escapes
key = "«S crc ghp_; x»"
%%
{"token": "«S crc npm_; uni»"}
%%
printf '«S pre glpat- u 20; oct»' > token
%%
"password\u0022:\u0022«S a 20»\u0022"
%%
{"api_key": "«S join . SG u:22 u:43; first»"}
%%
token=3D«S crc ghp_; qp»
@@ encoded-url
redirect_uri=https%3A%2F%2Fapp%2Fcb%3Faccess_token%3D«S a 40»%26state%3D1
%%
postgres://app:«S pw 16; url»@«host»/app
%%
payload=%7B%22password%22%3A%22«S pw 14; url»%22%7D
%%
next=%252Flogin%253Fpassword%253D«S pw 14; twice»
%%
?token=«S crc ghp_; urlall»
@@ encoded-base
echo «S a 40; env64 API_TOKEN» | base64 -d > .env
%%
6a 73 6f 6e 3a «S crc ghp_; spaced»
%%
xxd -r -p <<< «S crc ghp_; hexed»
%%
TOKEN = bytes([«S crc ghp_; dec»]).decode()
%%
Buffer.from('«S pre sk_live_ a 24; b64»', 'base64')
@@ multi-line
api_token: |
  «S a 80; lines 40»
%%
String key = "«S openai sk- 20; split 16»";
%%
export TOKEN=\
«S a 40»
%%
password:
    "«S pw 18»"
username: app
%%
GITHUB_TOKEN=«S crc ghp_; back 20»
%%
token = "".join(["«S crc gho_; bits 8»"])
@@ logs
2025-04-02 08:11:03,412 INFO  login user=«name» password=«S hpw» ip=10.1.1.9
%%
ERROR: FATAL: password authentication failed, dsn=postgresql://«user»:«S upw 14»@«host»/app
%%
level=debug msg="env dump" DB_PASS=«S a 18» TZ=UTC
%%
root  4121  0.1  java -Dkeystore.pass=«S a 14» -jar app.jar
%%
type=EXECVE msg=audit(1741000000.123:77): argc=4 a0="mysql" a1="-uroot" a2="--password=«S a 14»" a3="shop"
%%
  + vault login token=«S pre hvs. a 24»
@@ ci
      - run: twine upload -u __token__ -p «S pre pypi-AgEIcHlwaS5vcmcCJ u 130» dist/*
%%
variables:
  SSH_PASS: "«S pw 14»"
%%
environment { NEXUS_PWD = '«S pw 14»' }
%%
##vso[task.setvariable variable=deployKey]«S a 40»
"""

# ------------------------------------------------------------------------------------------- table of harmless texts

HARMLESS_TEXTS = r"""
@@ digests
sha256:«hex 64»
%%
«hex 32»  ubuntu-24.04-live-server-amd64.iso
%%
MD5 (release.tar.gz) = «hex 32»
%%
SHA1: «HEX 40»
%%
FROM node:22-alpine@sha256:«hex 64»
%%
ETag: "«hex 32»"
%%
checksum mismatch: expected «hex 64», got «hex 64»
%%
x-amz-content-sha256: «hex 64»
%%
b2sum «hex 128»  data.bin
@@ git-ids
commit «hex 40»
%%
index «hex 7»..«hex 7» 100644
--- a/src/auth/token.c
+++ b/src/auth/token.c
%%
HEAD is now at «hex 8» fix password reset mail
%%
Subproject commit «hex 40»
%%
uses: actions/checkout@«hex 40» # v4.2.2
%%
git bisect good «hex 40»
%%
rev = "«hex 40»"
%%
https://github.com/acme/auth/commit/«hex 40»
@@ uuids
«uuid»
%%
tenant_id: «uuid»
%%
"correlationId": "«uuid»",
%%
UUID=«uuid» /boot ext4 defaults 0 2
%%
[Guid("«uuid»")]
%%
Device 80:«HEX 2»:«HEX 2»:«HEX 2» uuid «uuid» not found
%%
GET /v2/orders/«uuid»/lines 404
%%
trace «hex 32» span «hex 16»
@@ public-keys
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI«b64n 32» «name»@laptop
%%
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ«b64 256» ci
%%
-----BEGIN PUBLIC KEY-----
«pem MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA 5»
-----END PUBLIC KEY-----
%%
PublicKey = «b64 32»
AllowedIPs = 10.8.0.0/24
%%
-----BEGIN PGP PUBLIC KEY BLOCK-----

«pem mQINBGX 4»
=«a 4»
-----END PGP PUBLIC KEY BLOCK-----
%%
{"kty":"RSA","use":"sig","kid":"«a 11»","n":"«b64u 256»","e":"AQAB"}
%%
# public key: age1«bech 58»
%%
github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBB«b64 48»
@@ certificates
-----BEGIN CERTIFICATE-----
«pem MIIDdzCCAl+gAwIBAgIE 6»
-----END CERTIFICATE-----
%%
certificate-authority-data: «pem64 CERTIFICATE MIIDdzCCAl+gAwIBAgIE»
%%
-----BEGIN CERTIFICATE REQUEST-----
«pem MIICijCCAXICAQAw 4»
-----END CERTIFICATE REQUEST-----
%%
<ds:X509Certificate>MIIC«a 200»</ds:X509Certificate>
%%
Serial Number: «hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»
%%
-----BEGIN DH PARAMETERS-----
«pem MIIBCAKCAQEA 3»
-----END DH PARAMETERS-----
@@ fingerprints
SHA256:«b64n 32» «name»@laptop (ED25519)
%%
gpg: key «HEX 16»: public key imported
%%
Key fingerprint = «HEX 4» «HEX 4» «HEX 4» «HEX 4» «HEX 4»  «HEX 4» «HEX 4» «HEX 4» «HEX 4» «HEX 4»
%%
The authenticity of host '10.0.0.5' can't be established. ED25519 key fingerprint is SHA256:«b64n 32».
%%
MD5:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»
%%
pin-sha256="«b64 32»"; max-age=5184000
@@ images-fonts
<img src="data:image/png;base64,«png 150»" alt="logo">
%%
background: url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)
%%
src: url("data:font/woff2;base64,d09GMgABAAAAA«b64 120»") format("woff2");
%%
![shot](data:image/jpeg;base64,/9j/4AAQSkZJRgABAQEASABIAAD«b64 90»)
%%
"image/png": "«png 180»\n",
%%
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb«b64 60»
@@ integrity
"integrity": "sha512-«b64 64»",
%%
<script src="/app.js" integrity="sha384-«b64 48»" crossorigin="anonymous"></script>
%%
golang.org/x/crypto v0.31.0 h1:«b64 32»
%%
    --hash=sha256:«hex 64» \
%%
checksum = "«hex 64»"
%%
hash = "sha256-«b64 32»";
%%
  resolved "https://registry.example.com/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz#«hex 40»"
%%
script-src 'self' 'sha256-«b64 32»'
@@ placeholders-angle
Authorization: Bearer <your-token>
%%
export GITHUB_TOKEN=<YOUR_GITHUB_TOKEN>
%%
password: <password>
%%
mysql -u root -p<password> shop
%%
//registry.example.com/:_authToken=<npm-token>
%%
api_key = "[YOUR API KEY HERE]"
%%
postgres://<user>:<password>@<host>:5432/<db>
%%
"client_secret": "{client-secret}",
%%
curl -H "X-API-Key: {{api_key}}" https://api.example.com
%%
<password>Enter the password here</password>
%%
docker login -u USERNAME -p PASSWORD registry.example.com
@@ env-references
DB_PASSWORD=${DB_PASSWORD}
%%
password = os.environ["DB_PASSWORD"]
%%
token: ${{ secrets.GITHUB_TOKEN }}
%%
const apiKey = process.env.STRIPE_SECRET_KEY;
%%
password: "{{ vault_db_password }}"
%%
//registry.example.com/:_authToken=${NPM_TOKEN}
%%
mysql -u root -p"$MYSQL_ROOT_PASSWORD" shop
%%
password = var.db_password
%%
curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://run.googleapis.com
%%
<password>${env.NEXUS_PASSWORD}</password>
%%
$env:API_TOKEN = (Get-Secret -Name ApiToken -AsPlainText)
%%
jdbc.password=@db.password@
@@ dummy-values
password: changeme
%%
API_KEY=your_api_key_here
%%
SECRET_KEY=replace-me
%%
POSTGRES_PASSWORD=password
%%
token = "dummy"
%%
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
%%
postgres://user:password@localhost:5432/db
%%
password: "TODO"
%%
OPENAI_API_KEY=sk-your-key-here
%%
client_secret: not-a-real-secret
@@ masked
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
%%
password: ********
%%
Authorization: Bearer [REDACTED]
%%
api_key=XXXXXXXXXXXXXXXX
%%
token: ***
%%
sk-...«a 4»
%%
DATABASE_URL=postgres://app:*****@db.internal/app
%%
"accessToken": "••••••••••••",
%%
secret=(sensitive value)
%%
glpat-00000000000000000000
@@ mangled-symbols
_ZN4auth12TokenManager15verify_passwordERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
%%
undefined reference to `_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_'
%%
_RNvCs«a 11»_4core3fmt9formatter
%%
$s7SwiftUI4ViewPAAE10onChangeOf2to7performQrqd___yqd__ctSQRd__lF
%%
core::ptr::drop_in_place<tokio::runtime::task::core::Cell>::h«hex 16»
%%
Lkotlin/coroutines/jvm/internal/SuspendLambda;->getPasswordToken$annotations()V
%%
??0TokenCache@auth@@QEAA@AEBV?$basic_string@DU?$char_traits@D@std@@V?$allocator@D@2@@std@@@Z
@@ versions
openssl 3.0.13-0ubuntu3.4 amd64
%%
Python 3.12.4 (main, Jun  8 2024, 18:29:57) [GCC 11.4.0] on linux
%%
jsonwebtoken@9.0.2, passport-jwt@4.0.1, bcryptjs@2.4.3
%%
v0.0.0-20240826«dig 6»-«hex 12»
%%
Chrome/126.0.6478.127 Safari/537.36
%%
token-service:1.14.2-rc.3+build.«dig 6»
%%
passlib==1.7.4 ; python_version >= "3.9"
%%
Linux 6.8.0-45-generic #45-Ubuntu SMP PREEMPT_DYNAMIC
@@ urls-with-ids
https://docs.google.com/document/d/1«u 43»/edit
%%
https://www.youtube.com/watch?v=«u 11»&t=42s
%%
https://github.com/acme/app/actions/runs/«dig 11»/job/«dig 11»
%%
https://www.figma.com/file/«a 22»/Login-Password-Screen
%%
https://gist.github.com/«name»/«hex 32»
%%
https://example.com/reset-password?lang=de&step=2
%%
https://acme.atlassian.net/browse/AUTH-1432?focusedCommentId=«dig 6»
%%
https://user-images.githubusercontent.com/«dig 7»/«dig 9»-«uuid».png
%%
https://www.notion.so/acme/API-token-howto-«hex 32»
@@ css
.input-password__toggle--visible{display:inline-flex;color:#5b21b6}
%%
.css-«lo 6»-MuiInputBase-root{font-size:1rem;padding:4px 0 5px}
%%
--token-color-primary: #ff4d4f;
--token-radius-lg: 8px;
%%
#password:focus-visible + .hint { opacity: 1; }
%%
<div class="sc-«let 6» «let 6» token-list__item">
%%
.hljs-built_in,.token.function{color:#dd4a68}
@@ js-bundles
/static/js/main.«hex 8».chunk.js
%%
!function(e,t){"object"==typeof exports?module.exports=t():e.Auth=t()}(this,function(){return e.token=t})
%%
__webpack_require__.d(t,{getToken:()=>s,setPassword:()=>u})
%%
const e=await t.password.validate(r,{min:8});if(!e)throw Error(n(412))
%%
(self.webpackChunkapp=self.webpackChunkapp||[]).push([[179],{«int 1000 9999»:(e,t,n)=>{n.d(t,{Z:()=>a})}}])
%%
vendors~login~password-reset-«hex 20».js.map
%%
index-«u 8».js                     142.31 kB │ gzip: 46.02 kB
@@ code-names
def verify_password(plain_password: str, hashed_password: str) -> bool:
%%
password = getpass.getpass("Password: ")
%%
const token = await refreshAccessToken(session.refreshToken);
%%
if (passwordEncoder.matches(rawPassword, user.getPassword())) {
%%
token = request.headers.get("Authorization", "").removeprefix("Bearer ")
%%
user.password_digest = BCrypt::Password.create(params[:password])
%%
secret := viper.GetString("jwt.secret")
%%
let apiKey = Bundle.main.infoDictionary?["API_KEY"] as? String
%%
self.password_reset_token_generator = PasswordResetTokenGenerator()
%%
PasswordTextBox.PasswordChar = '*';
%%
$password = $_POST['password'] ?? '';
%%
authToken = generateTokenForUser(userId, expiresInSeconds)
@@ type-annotations
password: str | None = None
%%
  accessToken?: string;
%%
private final Supplier<String> tokenSupplier;
%%
type Credentials = { username: string; password: Secret<string> };
%%
api_key: SecretStr = Field(..., min_length=32)
%%
fn with_token(mut self, token: impl Into<String>) -> Self
%%
Password string `json:"password" validate:"required"`
%%
val clientSecret: CharArray?
%%
@property (nonatomic, copy) NSString *authToken;
%%
password :: Maybe ByteString
@@ parsers-lexers
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
%%
error: expected one of `,` or `}`, found token `ident`
%%
token = self.tokens[self.pos]; self.pos += 1
%%
Token(type=IDENTIFIER, value='foo', line=12, col=4)
%%
case TOKEN_LBRACE: return parse_block(lexer);
%%
yacc: token "NUMBER" redefined
%%
unexpected token: KEYWORD_RETURN near line 88
@@ llm-tokens
max_tokens: 4096
%%
"usage": {"prompt_tokens": 1203, "completion_tokens": 88, "total_tokens": 1291}
%%
tokenizer.pad_token = tokenizer.eos_token
%%
special_tokens: ["<|endoftext|>", "<|im_start|>"]
%%
throughput 187.4 tokens/s, 3.2 s to the first token
%%
context length exceeded: 131072 tokens, you asked for 140022
@@ request-logs
2025-03-02T11:20:45Z INFO  req_id=«hex 16» user=«dig 5» path=/login status=200 dur=38ms
%%
x-request-id: «uuid»
%%
cf-ray: «hex 16»-ZRH
%%
[«dig 10»] token refreshed for session #«int 1000 9999» in 12 ms
%%
x-amzn-trace-id: Root=1-«hex 8»-«hex 24»
%%
WARN auth: password attempt 3/5 failed for user «name» from 203.0.113.9
%%
traceparent: 00-«hex 32»-«hex 16»-01
%%
RequestId: «up 16», HostId: «b64 56»
%%
kafka offset commit: topic=auth.tokens partition=3 offset=«dig 8»
@@ sentences
The password must be at least 12 characters long and contain a digit.
%%
I forgot my password and the reset mail never arrives.
%%
Is the token refreshed automatically when it expires?
%%
Never commit secrets: use a vault or environment variables instead.
%%
The password is stored as a bcrypt hash with cost 12.
%%
My token is expired, how can I get a new one without logging in?
%%
The secret is rotated every 90 days by the platform team.
%%
Passwords are compared in constant time to avoid timing attacks.
%%
the password is wrong, it says, but it works in the browser
%%
Please check that your API key is valid and has the scope `read:org`.
%%
Password for «name» was changed yesterday by the admin.
%%
The token is a string that the server signs; see RFC 7519.
@@ sentences-other-languages
Das Passwort ist falsch oder abgelaufen.
%%
Le mot de passe est obligatoire et doit contenir huit caractères.
%%
La contraseña es incorrecta, inténtelo de nuevo.
%%
пароль: не менее восьми символов
%%
パスワードは8文字以上で入力してください
%%
密码：不能为空
%%
A senha é obrigatória.
@@ fixtures-names
tests/fixtures/password_reset_expired_token.json
%%
test_login_with_wrong_password_returns_401[postgres-utf8]
%%
it("rejects an expired refresh token", async () => {
%%
PASSED tests/test_tokens.py::TestJwt::test_secret_rotation_keeps_old_tokens_valid
%%
@pytest.fixture(name="invalid_api_key_client")
%%
describe('PasswordStrengthMeter', () => {
%%
cassettes/oauth2/token_refresh_happy_path.yaml
@@ minified
a.p=function(b,c){return c?b.token||(b.token=d()):null};
%%
var n=e.password,r=e.confirmPassword;return n!==r&&t.push("mismatch")
%%
{token:e.next().token,secret:void 0,password:null}
%%
t.exports={apiKey:r(17),authToken:function(){return i}}
%%
,s=function(e){return e&&e.__esModule?e:{default:e}}(n(8412));t.tokenType=s.default
%%
M12.5 3.2c-4.1 0-7.5 3.4-7.5 7.5v2.3H3.9v11.1h17.2V13h-1.1v-2.3c0-4.1-3.4-7.5-7.5-7.5z
@@ words
secretariat tokenize passwordless keystone credential-helper authorship
%%
token-ring, token-bucket, token economy
%%
«word» «word» «word» «word» «word»
%%
internationalization-of-passwordpolicyconfiguration
%%
supercalifragilisticexpialidocious
%%
Secret Santa list, arcade tokens, password game
@@ serials
S/N: «up 4»-«up 5»-«up 4»
%%
IMEI «dig 15»
%%
ISBN 978-3-16-148410-0
%%
MAC «hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»:«hex 2»
%%
Invoice RE-2025-«dig 6», customer no. «dig 7»
%%
Model WDC WD40EFRX-68N32N0, serial WD-WCC7K«up 7»
%%
DE89 3704 0044 0532 0130 00
@@ paths
/var/run/secrets/kubernetes.io/serviceaccount/token
%%
/etc/ssl/private/server.key
%%
C:\Users\«name»\AppData\Local\Temp\tok«hex 4».tmp
%%
password_file: /run/secrets/db_password
%%
/nix/store/«lo 32»-openssl-3.0.14/bin/openssl
%%
~/.cache/pip/wheels/«hex 2»/«hex 2»/«hex 2»/«hex 56»
%%
node_modules/.pnpm/jsonwebtoken@9.0.2/node_modules/jsonwebtoken/verify.js
%%
ssh -i ~/.ssh/id_ed25519 deploy@10.0.0.5
%%
token_path = "~/.config/acme/token.json"
@@ sql-schema
CREATE TABLE users (id bigint, password varchar(255) NOT NULL, api_token char(64));
%%
SELECT token, expires_at FROM sessions WHERE user_id = $1;
%%
ALTER TABLE users ADD COLUMN password_changed_at timestamptz;
%%
UPDATE users SET password = crypt($1, gen_salt('bf')) WHERE email = $2;
%%
INSERT INTO users (name, password) VALUES (?, ?)
%%
CREATE INDEX idx_tokens_hash ON tokens USING hash (token_hash);
%%
CREATE USER app IDENTIFIED BY :password;
@@ html-forms
<input type="password" name="password" id="password" autocomplete="current-password" required>
%%
<label for="token">Access token</label>
%%
<input type="hidden" name="csrf_token" value="{% csrf_token %}">
%%
<TextInput secureTextEntry placeholder="Password" value={password} onChangeText={setPassword} />
%%
<p:password id="pwd" value="#{login.password}" feedback="false"/>
%%
<a href="/forgot-password">Forgot password?</a>
@@ cli-help
  -p, --password PASSWORD   password of the user (default: ask)
%%
Usage: vaultctl login [--token TOKEN] [--username USER]
%%
error: the following arguments are required: --api-key
%%
mysql -u root -p -h db.internal shop
%%
$ npm token list
%%
curl: option --oauth2-bearer: requires parameter
%%
gh auth token | docker login images.example.com -u USER --password-stdin
%%
[sudo] password for «name»:
%%
Enter passphrase for key '/home/«name»/.ssh/id_rsa':
@@ config-no-value
password: null
%%
DB_PASSWORD=
%%
require_password = true
%%
token_ttl: 15m
%%
"passwordPolicy": {"minLength": 12, "requireDigits": true},
%%
session.token.expiry.seconds=3600
%%
<add key="PasswordAttemptWindow" value="10"/>
%%
auth_token_header = X-Auth-Token
%%
secret_backend: vault
%%
grant_type: password
%%
api_key_location: header
@@ secret-references
secretKeyRef: {name: db-credentials, key: password}
%%
password: !vault |
  $ANSIBLE_VAULT;1.1;AES256
%%
secretName: tls-wildcard-acme-io
%%
password: ref+vault://secret/data/db#/password
%%
valueFrom: arn:aws:secretsmanager:eu-west-1:«dig 12»:secret:prod/db
%%
API_TOKEN=op://Private/acme-api/credential
%%
password: ENC[AES256_GCM,data:«b64 12»,iv:«b64 32»,tag:«b64 16»,type:str]
%%
imagePullSecrets:
  - name: regcred
@@ dsn-without-password
postgres://app@db.internal:5432/billing
%%
redis://cache-3.prod.svc:6379/0
%%
jdbc:postgresql://10.20.4.17:5432/shop?currentSchema=public
%%
Server=sql01;Database=Crm;Trusted_Connection=True;
%%
mongodb://localhost:27017/app?authSource=admin
%%
git@github.com:acme/secrets-operator.git
%%
amqp://mq.eu-west.acme.net:5672/prod
@@ addresses-dumps
#0  0x00007f«hex 10» in check_password (pw=0x«hex 12») at auth.c:88
%%
00000010: «hex 4» «hex 4» «hex 4» «hex 4» «hex 4» «hex 4» «hex 4» «hex 4»  ................
%%
7f«hex 10»-7f«hex 10» r-xp 00000000 08:01 «dig 7» /usr/lib/libcrypto.so.3
%%
fe80::«hex 4»:«hex 4»:fe«hex 2»:«hex 4»/64
%%
BuildID[sha1]=«hex 40», stripped
%%
tx 0x«hex 64» mined in block «dig 8»
%%
contract 0x«hex 40» verified on Etherscan
@@ vendor-prefix-talk
GitHub tokens begin with `ghp_`, `gho_` or `github_pat_`.
%%
if not key.startswith("sk-ant-"): raise ValueError("not an Anthropic key")
%%
regex: (?:xox[bpars]-[0-9]{10,13}-[0-9A-Za-z-]{24,})
%%
const PREFIXES = ['sk_live_', 'rk_live_', 'whsec_'];
%%
error: invalid token, must match ^glpat-[\w-]{20}$
%%
[[rules]]
id = "npm-access-token"
regex = '''(?i)\b(npm_[a-z0-9]{36})\b'''
%%
HF tokens look like hf_..., get one under Settings > Access Tokens
@@ public-by-design
G-«up 10»
%%
client_id: «dig 12»-«lo 32».apps.googleusercontent.com
%%
data-sitekey="6L«u 38»"
%%
arn:aws:iam::«dig 12»:role/ci-deploy
%%
ca-pub-«dig 16»
%%
algolia: { appId: '«up 10»', indexName: 'docs' }
%%
google-site-verification=«u 43»
@@ ui-strings
"login.password.label": "Password",
%%
"error.token.expired": "Your session has expired",
%%
<string name="password_hint">At least 8 characters</string>
%%
msgid "Enter your password"
msgstr "Geben Sie Ihr Passwort ein"
%%
"forgotPassword": "Forgot your password?",
%%
password_label=Mot de passe
@@ error-messages
remote: Support for password authentication was removed on August 13, 2021.
%%
FATAL: password authentication failed for user "app"
%%
Access denied for user 'root'@'localhost' (using password: YES)
%%
jwt.exceptions.InvalidSignatureError: Signature verification failed
%%
{"error":"invalid_client","error_description":"Client secret does not match"}
%%
npm ERR! code E401 Unable to authenticate, your authentication token seems to be invalid.
%%
Error: Bad credentials - https://docs.github.com/rest
%%
TypeError: Cannot read properties of undefined (reading 'accessToken')
@@ encoded-harmless
SGVsbG8sIHdvcmxkISBUaGlzIGlzIGp1c3QgYSB0ZXN0Lg==
%%
\x48\x65\x6c\x6c\x6f\x20\x77\x6f\x72\x6c\x64
%%
q=reset%20password%20not%20working%20in%20v3.2
%%
&lt;password&gt;&lt;/password&gt;
%%
%7B%22filter%22%3A%7B%22state%22%3A%22open%22%7D%7D
%%
\u0050\u0061\u0073\u0073\u0077\u006f\u0072\u0064 required
%%
cursor=Y3Vyc29yOnYyOpHOA«a 4»
@@ locks-manifests
"node_modules/password-validator": {"version": "5.3.0", "license": "MIT"}
%%
[[package]]
name = "secrecy"
version = "0.10.3"
source = "registry+https://git.example.com/index"
%%
    {file = "keyring-25.2.1-py3-none-any.whl", hash = "sha256:«hex 64»"},
%%
PODFILE CHECKSUM: «hex 40»
%%
  jwt (2.8.2)
    base64
%%
github.com/golang-jwt/jwt/v5 v5.2.1/go.mod h1:«b64 32»
"""


# --------------------------------------------------------------------------------------------------------- assembly


def table(text: str) -> list[tuple[str, str]]:
    """(class, text) of each entry."""
    entries = []
    for block in re.split(r"^@@ ", text.strip("\n"), flags=re.M)[1:]:
        kind, _, body = block.partition("\n")
        entries += [(kind.strip(), one.strip("\n")) for one in re.split(r"^%%\n", body, flags=re.M)]
    return entries


def value(r: Random, spec: str) -> str:
    """The value of `gen args`; `@` inside an argument of `join` puts parts together without the separator."""
    gen, *args = spec.split(" ")
    if gen == "join":
        sep, *parts = args
        return sep.join("".join(part_of(r, p) for p in part.split("@")) for part in parts)
    return GENS[gen](r, *args)


def filled(r: Random, template: str, secret: str = "") -> tuple[str, str]:
    """The text of a template, and its secret."""

    def put(match: re.Match[str]) -> str:
        nonlocal secret
        spec, _, encoding = match[1].partition("; ")
        if spec == "S":
            return secret
        if not spec.startswith("S "):
            return value(r, spec)
        secret = value(r, spec[2:])
        name, _, arg = encoding.partition(" ")
        return ENCODINGS[name](secret, *([arg] if arg else [])) if name else secret

    return re.sub("«([^«»]*)»", put, template), secret


def from_vendors(r: Random) -> list[Sample]:
    carriers = [c.strip("\n") for c in CARRIERS.split("\n%%\n") if c.strip()]
    telling = [c for c in carriers if re.search("«(NAME|name|camel)»", c)]  # for tokens without a prefix
    samples, order = [], []
    for line in VENDORS.strip().splitlines():
        kind, name, spec = line.split(" ", 2)
        bare = spec.split(" ")[0] in {"hex", "uuid", "a", "b32l"}
        if not order:
            order = r.sample(carriers, len(carriers))
        carrier = r.choice(telling) if bare else order.pop()
        while not bare and spec.startswith("join / ") and ("Bearer" in carrier or "@git" in carrier):
            carrier = r.choice(telling)  # a webhook is no bearer token
        head, *rest = name.lower().split("_")
        for mark, word in {"NAME": name, "name": name.lower(), "camel": head + "".join(map(str.title, rest))}.items():
            carrier = carrier.replace(f"«{mark}»", word)
        text, secret = filled(r, carrier, value(r, spec))
        samples.append(Sample(kind, text, secret))
    return samples


def drawn(r: Random, samples: list[Sample], n: int) -> list[Sample]:
    """`n` of the samples: while there are too many, one of the largest class that is not `WHOLE` is left out by lot."""
    kept = list(samples)
    while len(kept) > n:
        sizes = Counter(s.kind for s in kept if s.kind not in WHOLE)
        top = max(sizes.values())
        kept.remove(r.choice([s for s in kept if sizes[s.kind] == top]))
    return kept


def corpus(seed: int = SEED) -> list[Sample]:
    """The secrets, then the harmless texts; the same seed gives the same corpus."""
    r = random.Random(seed)
    secrets = from_vendors(r) + [Sample(kind, *filled(r, text)) for kind, text in table(SECRET_TEXTS)]
    harmless = [Sample(kind, filled(r, text)[0]) for kind, text in table(HARMLESS_TEXTS)]
    return drawn(r, secrets, SIZE) + drawn(r, harmless, SIZE)


SECRETS = [s for s in corpus() if s.secret]
HARMLESS = [s for s in corpus() if not s.secret]


def main() -> int:
    for title, samples in (("secrets", SECRETS), ("harmless", HARMLESS)):
        kinds = Counter(s.kind for s in samples)
        print(title, len(samples), "distinct", len({s.text for s in samples}), "classes", len(kinds))
        print("  " + ", ".join(f"{k} {n}" for k, n in kinds.items()))
        if len({s.text for s in samples}) != SIZE or len(samples) != SIZE or max(kinds.values()) > 12:
            print("WRONG")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
