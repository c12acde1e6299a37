"""One made-up secret per rule, each spelled in two parts, so that no scanner of this repository takes it for real."""

import base64
import datetime as dt
import random

from evals.secret_filter import AllowedSecret, digest_of
from tests.builders.provider_keys import KEYS, a_provider_key

HEX = "0123456789abcdef" * 2
WORD = "a1B2c3D4e5" * 4
DICE = random.Random(7)  # noqa: S311 - seeded, nobody's key

PLANTED = {rule: a_provider_key(rule, DICE) for rule in KEYS} | {
    "anthropic_key": "sk-ant-" + "api03-" + WORD,
    "openrouter_key": "sk-or-" + "v1-" + HEX,
    "openai_key": "sk-" + "proj-abcd1234EFGH5678",
    "tavily_key": "tvly-" + "dev-abc123def456",
    "langsmith_key": "lsv2_" + "pt_" + HEX + "_0123456789",
    "huggingface_token": "hf_" + WORD[:34],
    "groq_key": "gsk_" + WORD,
    "xai_key": "xai-" + WORD,
    "perplexity_key": "pplx-" + WORD,
    "replicate_token": "r8_" + WORD[:37],
    "pinecone_key": "pcsk_" + WORD,
    "github_pat": "github_pat_" + "11AAAA_" + "b2" * 20,
    "seed_phrase": "mnemonic: '" + " ".join(["willow"] * 12) + "'",
    "github_token": "ghp_" + "a1B2" * 9,
    "gitlab_token": "glpat-" + WORD[:20],
    "aws_key": "AKIA" + "IOSFODNN7EXAMPLE",
    "azure_key": WORD + WORD[:12] + "JQQJ" + "99" + WORD[:26],
    "azure_client_secret": "abc" + "8Q~" + WORD[:34],
    "azure_account_key": "AccountKey" + "=" + WORD + WORD + "abcdef==",
    "azure_signature": "https://x.invalid/f?sv=1&" + "sig=" + WORD + "%3D",
    "google_key": "AIza" + "Sy" + "a1B2c" * 7,
    "google_oauth": "GOCSPX-" + WORD[:28],
    "slack_token": "xoxb-" + "123456789012-abc",
    "slack_webhook": "hooks.slack.com/" + "services/T00000000/B00000000/abcdefghijklmnop",
    "discord_webhook": "https://discord.invalid/api/" + "webhooks/123456789/" + WORD,
    "telegram_token": "123456789" + ":AA" + WORD[:33],
    "stripe_key": "sk_" + "live_" + WORD[:24],
    "twilio_key": "SK" + HEX,
    "sendgrid_key": "SG." + WORD[:22] + "." + WORD,
    "npm_token": "npm_" + WORD[:36],
    "pypi_token": "pypi-" + "AgEIcHlwaS5vcmc" + WORD,
    "docker_token": "dckr_" + "pat_" + WORD[:27],
    "digitalocean_token": "dop_" + "v1_" + HEX + HEX,
    "databricks_token": "dapi" + HEX,
    "vault_token": "hvs." + WORD,
    "grafana_token": "glsa_" + WORD[:32] + "_0123abcd",
    "shopify_token": "shpat_" + HEX,
    "notion_token": "ntn_" + WORD + "abcdef",
    "linear_key": "lin_" + "api_" + WORD,
    "atlassian_token": "ATATT3" + "xFf" + WORD + WORD,
    "sentry_token": "sntrys_" + WORD,
    "private_key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "bearer_token": "Authorization: Bearer " + "abcdef0123456789abcdef",
    "basic_auth": "Authorization: Basic " + base64.b64encode(b"jane:hunter2").decode(),
    "url_password": "postgres://jane" + ":hunter2@db.invalid/shop",
    "connection_password": "Server=db;Database=shop;User=jane;" + "Password=hunter2;",
    "named_credential": '"api_key": "' + HEX + '"',
    "crypt_hash": "$apr" + "1$abcdefgh$" + WORD[:22],
    "login_option": "curl -s -u jane" + ":hunter2 https://x.invalid",
    "password_option": "mysql -h db -u jane -p" + "hunter2 shop",
    "named_password": "DB_PASS" + "=hunter2",
    "url_credential": "https://x.invalid/v1?" + "key=" + WORD[:32],
    "named_value": "<pass" + "word>S3cr3t9Pw</password>",
    "chosen_password": "CREATE USER jane IDENTIFIED " + "BY 'hunter2'",
    "login_call": "login('jane', " + "'S3cr3t9Pw')",
    "password_line": "db.invalid:5432:shop:jane:" + "S3cr3t9Pw",
    "provider_key": "algolia: " + HEX,
    "email": "write to jane.doe@" + "acme-corp.com please",
    "high_entropy": "seen: " + "q7Rk2Zp9Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsA",
}


def an_entry(secret: str, rule: str = "high_entropy") -> AllowedSecret:
    return AllowedSecret(sha256=digest_of(secret), rule=rule, why="a test", who="jane", date=dt.date(2026, 11, 22))
