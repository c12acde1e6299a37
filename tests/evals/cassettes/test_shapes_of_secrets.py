"""Every shape that is promised is seen, whatever is drawn for it; what only looks like one is left alone."""

import base64
import json
import random

import pytest

from evals.secret_filter import scan, unsuspicious
from tests.chaos.shapes import NOT_PROMISED, PROMISED

NOISE = "Qm7" + "Xk9Rt2Lw5" + "Zp8Vb3Nc6" + "Hd4Ys1Jf"
"""Random, with small and capital letters and digits, as a key is."""


def drawn(shape, many=20):
    dice = random.Random(5)  # noqa: S311 - a seeded sample, nobody's key
    return [shape.around(shape.secret(dice)) for _ in range(many)]


def test_a_secret_of_a_promised_shape_is_seen():
    assert [text for shape in PROMISED for text in drawn(shape) if not scan({"content": text})] == []


def test_the_quick_look_passes_no_promised_shape():
    texts = [text for shape in PROMISED for text in drawn(shape)]

    assert [text for text in texts if unsuspicious([json.dumps({"content": text})], [])] == []


@pytest.mark.parametrize("name", ["password", "api_key", "clientSecret", "Authorization", "DB_PASS", "x-auth"])
def test_a_member_says_by_its_name_that_it_holds_a_secret(name):
    body = {"more": {name: "S3cr3t9Pw4x!"}}

    assert [found.json_path for found in scan(body)] == [f"$.more.{name}" if name.isidentifier() else "$.more.*"]
    assert not unsuspicious([json.dumps(body)], [])


def test_a_name_and_its_value_are_seen_behind_another_name():
    """The value of the first is looked ahead at, not taken: it holds the sign that counts."""
    assert [found.rule for found in scan("note: DB_PASSWORD=hunter2x")] == ["named_password"]


@pytest.mark.parametrize("depth", range(6))
def test_no_depth_of_quoting_hides_a_password(depth):
    text = '{"password": "S3cr3t9Pw"}'
    for _ in range(depth):
        text = json.dumps(text)

    assert scan(f"it said {text}") != []


def test_noise_alone_is_refused():
    """So that the harmless texts below pass for what stands around it."""
    assert [found.rule for found in scan(f"it said {NOISE} twice")] == ["high_entropy"]


@pytest.mark.parametrize(
    "harmless",
    [
        "max_tokens: 4096, tokens=1024, total_tokens: 12",
        '{"title": "token", "description": "password", "type": "string"}',
        "The password: required, at least 8 characters. Token: optional.",
        "route.pass: 64/80, pass: 12 of 14, bypass=v2",
        "secret_key_base: config.secrets.v2_key, token=self.token_2, api_key=api_key2",
        "https://x.invalid/?page=12&sort=name&key=title",
        "https://docs.invalid/v1:8080/a@b and ssh://git@code.invalid/x.git",
        "risk-or-reward-of-something-2024 and desk-20241122-report",
        "vcr_cassette_library_directory_name, napi_create_external_arraybuffer_2, API-versioning-of-endpoints-v2",
        "lip_sync_animation_for_2_characters, live_2024-11-22-release-notes, dvc_server_configuration_file_v2",
        "Sec-WebSocket-Accept: " + NOISE + "=",
        "Content-Type: multipart/form-data; boundary=----FormBoundary" + NOISE,
        'If-None-Match: W/"7f18-' + NOISE + '"',
        "JWKS has no key with kid '" + NOISE + "'",
        "content-digest: sha-256=:" + NOISE + "=:",
        "x-amz-checksum-sha256: " + NOISE + "=",
        'key1._domainkey IN TXT "v=DKIM1; k=rsa; p=' + NOISE,
        "certificate-authority-data: " + base64.b64encode(b"-----BEGIN CERTIFICATE-----" + NOISE.encode()).decode(),
        '{"id":"evt_' + NOISE + '","object":"event"}',
        '"customer": "cus_' + NOISE + '", "price": "price_' + NOISE + '"',
        "X-Request-Id: " + NOISE,
        "x-amz-id-2: " + NOISE + "/" + NOISE + "=",
        '{"upload_id": "' + NOISE + '", "nextPageToken": "' + NOISE + '"}',
        "GET /items?cursor=" + NOISE + "&limit=20",
        "code_challenge=" + NOISE + "&state=" + NOISE,
        "google-site-verification=" + NOISE,
        '<div data-sitekey="' + NOISE + '">',
        "Stripe('pk_live_" + NOISE + "')",
        "[Peer]\nPublicKey = " + NOISE + NOISE[:14] + "=",
        "VAPID_PUBLIC_KEY=B" + NOISE,
        '{"kty":"EC","crv":"P-256","x":"' + NOISE + '","y":"' + NOISE + '"}',
        "password: ENC[AES256_GCM,data:" + NOISE + "==,iv:" + NOISE + "=,tag:" + NOISE + "=,type:str]",
        "spring.datasource.password=ENC(" + NOISE + "=)",
        "<password>{" + NOISE + "=}</password>",
        "- secure: " + NOISE + "=",
        "X-Gm-Message-State: " + NOISE,
        "sha256/" + NOISE + "=",
        "PublicKeyToken=b77a5c561934e089",
        '"taskmill-export-key": "' + "651656ed5ea14127" * 4 + '", "row_key": "' + "651656ed5ea14127" * 2 + '"',
        '"private_key_id": "' + "fb2d7f24e000f2e7" * 2 + '"',
        "Token@436edac3 and token=Token@436edac3",
        "Password hash algorithm: argon2id",
        "send-to: queue7, auth: oauth2/token2, npm:react@18.2.0, nginx:1.25@sha256:0f1e2d",
        "https://x.invalid/webhooks/events-of-2024 and /docs/reset-password/step2-of-4",
        "rabbitmqctl add_vhost orders2, net use, AUTH PLAIN, AUTH LOGIN, xfreerdp /v:host",
        "cache_key = 'user:7:v2'; encode(text, 'utf-16'); jwt.decode(raw, algorithms=['HS256'])",
        "version is py312 as the default password field, use utf8mb4 as the key collation",
        "A3-landscape-paper-size-for-printing, pa-llet-racks, dvc_client_configuration_of_2024",
        "compass: n5e7w2x, bypass=k8s2rules, tests pass: py311",
        "sk_learn.linear_model, pat.match, live_reload_of_the_page_after_80_ms",
        "--token-file path --password-stdin --user 1000:1000",
        "curl -u user:$PASSWORD https://x.invalid, mysql -p shop, redis-cli -a <password>",
        "0123456789abcdef0123456789abcdef-utf8",
        "d41d8cd98f00b204e9800998ecf8427e  empty.txt",
        "50%25 of a%20b%20c, C:\\temp\\new\\results.txt",
    ],
)
def test_what_only_has_the_name_of_a_secret_is_left_alone(harmless):
    assert scan(harmless) == []
    assert unsuspicious([json.dumps(harmless)], [])


@pytest.mark.parametrize("shape", NOT_PROMISED, ids=lambda shape: shape.name)
def test_what_is_not_promised_is_not_seen_either(shape):
    """So that the docs say what is so: a shape that is seen one day is to be promised."""
    assert [text for text in drawn(shape) if scan(text)] == []
