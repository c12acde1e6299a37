"""Keys by the formats their providers publish, from the most particular to the most general."""

from typing import Final

from evals.shared.secrets.rule import Rule, prefixed, rule

_HEX32: Final = r"[0-9a-f]{32,}(?![A-Za-z0-9])"
_LONG: Final = r"[A-Za-z0-9_-]{16,}"
_SOLID: Final = r"[A-Za-z0-9]{20,}"
_MIXED: Final = (
    r"(?=[A-Za-z]*\d)[A-Za-z0-9]{24,}"  # where names begin like the prefix: `vcr_cassette_dir`, `napi_create`
)
_DASHED: Final = r"(?=[A-Za-z_-]*\d)[A-Za-z0-9-]{16,}"
_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

MODELS: Final = (
    prefixed("cerebras_key", "csk-", r"[a-z0-9]{32,}"),
    prefixed("anthropic_key", "sk-ant-", _LONG),
    prefixed("openrouter_key", "sk-or-", _LONG),
    prefixed("openai_key", "sk-", _LONG),
    prefixed("elevenlabs_key", "sk_", r"[0-9a-f]{48}"),
    prefixed("tavily_key", "tvly-", r"[A-Za-z0-9_-]{12,}"),
    prefixed("langsmith_key", "lsv2_pt_ lsv2_sk_ ls__", r"[A-Za-z0-9_]{20,}"),
    prefixed("huggingface_token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    prefixed("groq_key", "gsk_", r"[A-Za-z0-9]{32,}"),
    prefixed("xai_key", "xai-", r"[A-Za-z0-9]{32,}"),
    prefixed("perplexity_key", "pplx-", r"[A-Za-z0-9]{32,}"),
    prefixed("replicate_token", "r8_", r"[A-Za-z0-9]{32,}"),
    prefixed("pinecone_key", "pcsk_", r"[A-Za-z0-9_]{32,}"),
    prefixed("nvidia_key", "nvapi-", r"[A-Za-z0-9_-]{30,}"),
    prefixed("firecrawl_key", "fc-", _HEX32),
    prefixed("model_host_key", "fw_ jina_ e2b_ rpa_ opk_ wandb_v1_", _SOLID),
    prefixed("voyage_key", "pa- al-", r"(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{40,}"),
    prefixed("cursor_key", "key_ crsr_", r"[0-9a-f]{64}"),
)
CODE_HOSTS: Final = (
    prefixed("github_pat", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    prefixed("github_token", "ghp_ gho_ ghs_ ghu_ ghr_", _SOLID),
    prefixed(
        "gitlab_token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glffct- glimt- glagent- glsoat- GR1348941 _gitlab_session=",
        _LONG,
    ),
    prefixed("bitbucket_token", "ATBB", r"[A-Za-z0-9_=-]{24,}"),
    prefixed("atlassian_token", "ATCTT3 ATATT3 ATSTT3", r"[A-Za-z0-9_=-]{40,}"),
    prefixed("sourcegraph_token", "sgp_ slk_ sgd_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    prefixed("npm_token", "npm_", r"[A-Za-z0-9]{30,}"),
    prefixed("pypi_token", "pypi-AgE", _LONG),
    prefixed("rubygems_key", "rubygems_", _HEX32),
    prefixed("package_token", "CLOJARS_ oy2 packagist_", r"[A-Za-z0-9_]{40,}"),
    prefixed("jfrog_token", "AKCp cmVmdGtu", r"[A-Za-z0-9]{30,}"),
    prefixed("docker_token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,}"),
    prefixed("build_token", "bkua_ bkct_ CCIPAT_ CCIPRJ_ tskey-", r"(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}"),
    prefixed("sonar_token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}"),
    prefixed("developer_tool_key", "rdme_ pnu_ pnb_ vtwn_ vcp_ vca_ vci_ vcr_ vck_ cog_", _MIXED),
    prefixed("snyk_token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9_.-]{20,}"),
)
CLOUDS: Final = (
    prefixed("aws_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    prefixed("aws_bedrock_key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{40,}={0,2}"),
    prefixed("amazon_token", "amzn.mws. amzn1.oa2-cs.v1.", r"[0-9a-f-]{32,}"),
    rule("azure_key", "JQQJ99", r"[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{16,}"),
    rule("azure_client_secret", "Q~", r"[\w~.-]{3}\dQ~[\w~.-]{30,40}"),
    rule("azure_account_key", "AccountKey= AccessKey=", r"Acc(?:ount|ess)Key=(?P<value>[A-Za-z0-9+/]{40,}={0,2})"),
    rule("azure_signature", "sig=", r"[?&;]sig=(?P<value>[A-Za-z0-9%+/]{40,}={0,2})"),
    prefixed("google_key", "AIza", r"[A-Za-z0-9_-]{30,}"),
    prefixed("google_oauth", "ya29. GOCSPX- 1//0", r"[A-Za-z0-9_-]{20,}"),
    prefixed("alibaba_key", "LTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
    prefixed("tencent_key", "AKID AQVN", r"[A-Za-z0-9_-]{32,}"),
    prefixed("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", _HEX32),
    prefixed("databricks_token", "dapi", r"[0-9a-f]{32}"),
    prefixed("cloudflare_key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{64,}"),
    prefixed("vault_token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}"),
    rule("terraform_token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    prefixed("heroku_key", "HRKU-", r"[A-Za-z0-9_-]{36,}"),
    prefixed("pulumi_token", "pul-", r"[0-9a-f]{40}"),
    prefixed("planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{24,}"),
    prefixed("supabase_key", "sbp_ sb_secret_", r"(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}"),
    prefixed("hosting_token", "napi_ nfp_ nfo_ nfc_ dp.pt. dp.st. dp.sa. dp.ct.", _MIXED),
    prefixed("fly_token", "fo1_ fm1r_ fm1a_ fm2_", r"[\w.+/=-]{40,}"),
    prefixed("astra_token", "AstraCS:", r"[\w:%-]{30,}"),
    prefixed("onepassword_token", "ops_eyJ", r"[A-Z0-9a-z_-]{26,}"),
    prefixed("age_key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", r"[A-Z0-9]{40,}"),
)
SERVICES: Final = (
    prefixed(
        "slack_token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp- xwfp-",
        r"(?=[\w%.-]*\d)[\w%.-]{10,}",
    ),
    rule(
        "slack_webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9/]{20,})",
    ),
    rule(
        "teams_webhook", ".webhook.office.com/", r"\.webhook\.office\.com/(?P<value>webhookb2/[\w@-]{36,}/[\w/-]{32,})"
    ),
    rule("discord_webhook", "/api/webhooks/", r"/api/webhooks/(?P<value>\d+/[\w-]{30,})"),
    rule("telegram_token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{30,}"),
    prefixed(
        "stripe_key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_ rzp_live_ rzp_test_",
        r"[A-Za-z0-9]{14,}",
    ),
    prefixed("square_token", "sq0atp- sq0csp- EAAA", r"[A-Za-z0-9_-]{22,}"),
    prefixed("twilio_key", "SK AC", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    prefixed("sendgrid_key", "SG.", r"[\w-]{16,}\.[\w-]{16,}"),
    prefixed("mailgun_key", "key-", _HEX32),
    prefixed("mailersend_token", "mlsn.", r"[A-Za-z0-9]{30,}"),
    rule("mailchimp_key", "-us", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    prefixed("brevo_key", "xkeysib- xsmtpsib-", r"[0-9a-f]{32,}[\w-]*"),
    prefixed("resend_key", "re_", r"[A-Za-z0-9]{6,}_[A-Za-z0-9]{20,}"),
    prefixed("newrelic_key", "NRAK- NRII- NRIQ- NRJS- NRAA- NRSP-", r"[A-Za-z0-9_-]{19,}"),
    prefixed("dynatrace_token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"[A-Z0-9a-z]{8,}\.[A-Za-z0-9]{24,}"),
    prefixed("grafana_token", "glsa_ glc_", r"[A-Za-z0-9+/=_]{30,}"),
    prefixed("sentry_token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{30,}"),
    prefixed("telemetry_key", "phx_ phs_ hcaik_ hcbik_ hcxik_ hcamk_", _SOLID),
    prefixed("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    prefixed("shippo_token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    prefixed("easypost_key", "EZAK EZTK", r"[A-Za-z0-9]{50,}"),
    prefixed("flutterwave_key", "FLWSECK_TEST- FLWSECK-", r"[A-Za-z0-9-]{12,}"),
    prefixed(
        "business_api_token", "duffel_live_ duffel_test_ fio-u- tfp_ CFPAT- figd_ figu_ lin_oauth_", r"[\w.=-]{32,}"
    ),
    prefixed("notion_token", "ntn_", r"[A-Za-z0-9]{40,}"),
    prefixed("linear_key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    prefixed("airtable_token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    prefixed("hubspot_token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    prefixed("launchdarkly_key", "sdk- mob- api-", _UUID),
    prefixed("postman_key", "PMAK- PMAT-", r"[0-9A-Za-z-]{24,}"),
    prefixed("dropbox_token", "sl.", r"[A-Za-z0-9_-]{60,}"),
    prefixed("plaid_token", "access-sandbox- access-production- access-development-", _UUID),
    prefixed("payment_key", "sk_sbox_ sk_ pdl_live_apikey_", r"[a-z0-9]{26,}[a-z0-9*:$#=]*"),
    prefixed("gateway_key", "Mid-server- API- zpka_ tk-us- ATTA", _MIXED),
    prefixed(
        "access_token", "lip_ polar_at_ polar_pat_ polar_oat_ sm_aat_ sm_pat_ sm_sat_ waka_ gcntfy- endr+", _DASHED
    ),
    prefixed("service_key", "aio_ secret_ p8e- live_ pat_ os_v2_app_", _MIXED),
    prefixed("harness_token", "pat. sat.", r"[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    prefixed("zoho_token", "1000. 1001.", r"[0-9a-f]{32}\.[0-9a-f]{32}"),
    prefixed(
        "onfido_token",
        "api_live. api_live_us. api_live_ca. api_sandbox.",
        r"(?=[A-Za-z_-]*\d)[\w-]{11,}(?:\.[\w-]{16,})?",
    ),
    prefixed("woocommerce_key", "cs_ ck_", r"[0-9a-f]{40}"),
    prefixed("devcycle_key", "dvc_client_ dvc_mobile_ dvc_server_ rootly_ samsara_api_", _MIXED),
    prefixed("clickup_token", "pk_", r"\d{6,}_[A-Z0-9]{32}"),
    prefixed("facebook_token", "EAAM EAAC EAAB EAAG EAAJ", r"[A-Za-z0-9]{60,}"),
)
FORMATS: Final[tuple[Rule, ...]] = (*MODELS, *CODE_HOSTS, *CLOUDS, *SERVICES)
