"""Made-up keys in the formats providers publish, drawn when asked for: none of them stands in this repository."""

import random
import string
import uuid
from typing import Final

HEX: Final = "0123456789abcdef"
LOWER: Final = string.ascii_lowercase + string.digits
UPPER: Final = string.ascii_uppercase + string.digits
BOTH: Final = string.ascii_letters + string.digits
UUID: Final = "uuid"

KEYS: Final = {
    "anthropic_key": ("sk-ant-api03-", BOTH, 80),
    "openrouter_key": ("sk-or-v1-", HEX, 64),
    "openai_key": ("sk-proj- sk-svcacct- sk-lf-", BOTH, 48),
    "elevenlabs_key": ("sk_", HEX, 48),
    "tavily_key": ("tvly-dev-", BOTH, 32),
    "huggingface_token": ("hf_", BOTH, 34),
    "groq_key": ("gsk_", BOTH, 52),
    "xai_key": ("xai-", BOTH, 80),
    "perplexity_key": ("pplx-", BOTH, 48),
    "replicate_token": ("r8_", BOTH, 37),
    "nvidia_key": ("nvapi-", BOTH, 64),
    "cerebras_key": ("csk-", LOWER, 48),
    "firecrawl_key": ("fc-", HEX, 32),
    "model_host_key": ("fw_ jina_ e2b_ rpa_ wandb_v1_", BOTH, 40),
    "voyage_key": ("pa-", BOTH, 43),
    "cursor_key": ("key_", HEX, 64),
    "github_token": ("ghp_ gho_ ghs_ ghu_ ghr_", BOTH, 36),
    "gitlab_token": ("glpat- glrt- gldt-", BOTH, 20),
    "bitbucket_token": ("ATBB", BOTH, 32),
    "sourcegraph_token": ("sgp_", HEX, 40),
    "npm_token": ("npm_", BOTH, 36),
    "rubygems_key": ("rubygems_", HEX, 48),
    "package_token": ("CLOJARS_", HEX, 60),
    "jfrog_token": ("AKCp", BOTH, 69),
    "docker_token": ("dckr_pat_", BOTH, 27),
    "build_token": ("bkua_ CCIPAT_ tskey-auth-", BOTH, 40),
    "sonar_token": ("sqp_ squ_", HEX, 40),
    "developer_tool_key": ("rdme_ pnu_ vcp_", LOWER, 36),
    "snyk_token": ("snyk_uat.", BOTH, 40),
    "aws_key": ("AKIA ASIA", UPPER, 16),
    "aws_bedrock_key": ("ABSK", BOTH, 109),
    "amazon_token": ("amzn.mws.", UUID, 36),
    "google_key": ("AIza", BOTH, 35),
    "alibaba_key": ("LTAI", BOTH, 20),
    "tencent_key": ("AKID", BOTH, 32),
    "digitalocean_token": ("dop_v1_", HEX, 64),
    "databricks_token": ("dapi", HEX, 32),
    "cloudflare_key": ("v1.0-", HEX, 24, "-", HEX, 146),
    "vault_token": ("hvs.", BOTH, 90),
    "terraform_token": ("", BOTH, 14, ".atlasv1.", BOTH, 60),
    "heroku_key": ("HRKU-", UUID, 36),
    "pulumi_token": ("pul-", HEX, 40),
    "planetscale_token": ("pscale_tkn_ pscale_pw_ pscale_oauth_", BOTH, 43),
    "supabase_key": ("sbp_ sb_secret_", HEX, 40),
    "hosting_token": ("napi_ nfp_ dp.pt.", LOWER, 40),
    "astra_token": ("AstraCS:", BOTH, 24, ":", HEX, 64),
    "onepassword_token": ("ops_" + "eyJ", BOTH, 250),
    "age_key": ("AGE-SECRET-" + "KEY-1", UPPER, 58),
    "teams_webhook": ("https://x.webhook.office.com/webhookb2/", UUID, 36, "/IncomingWebhook/", HEX, 32),
    "square_token": ("sq0atp- sq0csp-", BOTH, 43),
    "mailgun_key": ("key-", HEX, 32),
    "mailersend_token": ("mlsn.", BOTH, 64),
    "mailchimp_key": ("", HEX, 32, "-us", "123", 1),
    "brevo_key": ("xkeysib-", HEX, 64, "-", BOTH, 16),
    "resend_key": ("re_", BOTH, 8, "_", BOTH, 24),
    "newrelic_key": ("NRAK- NRII-", UPPER, 27),
    "dynatrace_token": ("dt0c01.", UPPER, 24, ".", UPPER, 64),
    "telemetry_key": ("phx_ hcaik_", LOWER, 43),
    "shippo_token": ("shippo_live_ shippo_test_", HEX, 40),
    "easypost_key": ("EZAK EZTK", BOTH, 54),
    "flutterwave_key": ("FLWSECK_TEST- FLWSECK-", HEX, 32),
    "business_api_token": ("duffel_test_ fio-u- tfp_ figd_", BOTH, 43),
    "airtable_token": ("pat", BOTH, 14, ".", HEX, 64),
    "hubspot_token": ("pat-na1- pat-eu1-", UUID, 36),
    "launchdarkly_key": ("sdk- mob- api-", UUID, 36),
    "postman_key": ("PMAK-", HEX, 24, "-", HEX, 34),
    "dropbox_token": ("sl.", BOTH, 130),
    "plaid_token": ("access-sandbox- access-production-", UUID, 36),
    "payment_key": ("sk_sbox_", LOWER, 27),
    "gateway_key": ("Mid-server- API- ATTA", BOTH, 32),
    "access_token": ("lip_ polar_pat_ waka_", BOTH, 24),
    "service_key": ("aio_ os_v2_app_", BOTH, 28),
    "harness_token": ("pat.", BOTH, 22, ".", HEX, 24, ".", BOTH, 20),
    "zoho_token": ("1000.", HEX, 32, ".", HEX, 32),
    "onfido_token": ("api_live. api_live_us.", BOTH, 11, ".", BOTH, 32),
    "woocommerce_key": ("ck_ cs_", HEX, 40),
    "devcycle_key": ("dvc_server_", HEX, 32),
    "clickup_token": ("pk_", "123456789", 8, "_", UPPER, 32),
    "facebook_token": ("EAAC", BOTH, 150),
}
"""Rule, prefixes of which one is drawn, then alphabet and length of each part, with what stands between parts."""


def a_provider_key(rule: str, dice: random.Random) -> str:
    prefixes, *parts = KEYS[rule]
    drawn = [dice.choice(prefixes.split() or [""])]
    while parts:
        alphabet, length, *parts = parts
        drawn.append(a_word(alphabet, length, dice))
        drawn += parts[:1]
        parts = parts[1:]
    return "".join(drawn)


def a_word(alphabet: str, length: int, dice: random.Random) -> str:
    if alphabet == UUID:
        return str(uuid.UUID(int=dice.getrandbits(128), version=4))
    return "".join(dice.choices(alphabet, k=length))
