"""What may stand in a cassette, and what a scan finds."""

import hashlib
import json
import random
import string

import pytest

from evals.secret_filter import (
    FILE,
    AllowedSecrets,
    SecretFinding,
    redact_request,
    redact_response,
    scan,
    scan_text,
    scrub,
    unsuspicious,
)
from evals.shared.secrets import secrets_by_place as places
from evals.shared.secrets.key_formats import FORMATS
from evals.shared.secrets.scanner import RULES
from tests.builders.checkout import REPOSITORY
from tests.builders.interaction import CHAT, a_chat_answer, a_chat_request
from tests.builders.secret import PLANTED, an_entry

BASE62 = string.ascii_letters + string.digits


def test_each_kind_of_secret_is_found_and_located():
    found = {rule: scan(a_chat_request(f"see {secret} here")) for rule, secret in PLANTED.items()}

    assert found == {rule: [SecretFinding(rule, "$.messages[0].content")] for rule in PLANTED}


def test_a_secret_used_as_a_name_is_found_and_not_repeated():
    findings = scan({PLANTED["aws_key"]: {"more": PLANTED["jwt"]}})

    assert [finding.rule for finding in findings] == ["aws_key", "jwt"]
    assert not any(PLANTED["aws_key"] in finding.json_path for finding in findings)


@pytest.mark.parametrize(
    "harmless",
    [
        "572a54f5eeeb143f94e41e315f8a65bed5cc3d645f16e6b42a70f764b0c47c80",
        "0b8f6a52-8d8e-4f3b-9a45-1c2d3e4f5a6b",
        "chatcmpl-abC1dEf2GhI3jKl4MnO5pQr6StU7vWx8",
        "fp_44709d6fcb and call_abcdefGHIJKL123456789mnop",
        "jane@example.com, bot@build.example.org, x@host.invalid, y@mail.test",
        "git@github.com:acme/parcels.git",
        "pip install requests==2.31.0 urllib3@1.26",
        "@pytest.mark.parametrize and a @ b",
        "tests/unit/http2/TestRateLimiter2HandlesBurstsOfRequests.py::TestRetry429AfterHeader::test_v2",
        "DeprecationWarningForPython311InLanggraphCheckpointSqliteAio",
        "Bearer authentication-middleware-for-starlette is broken",
        "task-runner-with-a-very-long-hyphenated-name and risk-assessment-of-the-thing",
        "=" * 60 + "-" * 60,
        "/usr/lib/python3.11/site-packages/parcelkit/tariffs/zone_resolver.py",
    ],
)
def test_what_only_looks_odd_is_left_alone(harmless):
    assert scan({"content": harmless}) == []


def test_random_text_of_forty_characters_is_found_ninety_nine_times_in_a_hundred():
    """A rule that can tell chance from names must miss a few: those that happen to look like names."""
    dice = random.Random(7)  # noqa: S311 - a seeded sample, nobody's key
    tokens = ["".join(dice.choices(BASE62, k=40)) for _ in range(2000)]

    assert sum(bool(scan(token)) for token in tokens) >= 1980


def test_a_credential_is_taken_out_of_a_request():
    assert redact_request(a_chat_request(api_key="anything")) == a_chat_request()


def test_only_the_protocols_own_members_of_an_answer_are_kept():
    answer = a_chat_answer(timings={"ms": 3}, organization="acme", prompt_filter_results=[])

    assert redact_response(CHAT, answer) == a_chat_answer()


def test_a_search_keeps_its_results_and_loses_its_request_id():
    assert redact_response("/search", {"query": "q", "results": [], "request_id": "1"}) == {"query": "q", "results": []}


def test_an_error_text_with_a_secret_in_it_is_withheld_whole():
    assert PLANTED["openai_key"] not in scrub(f"Incorrect API key provided: {PLANTED['openai_key']}")


@pytest.mark.parametrize(
    "placeholder",
    [
        "postgres://user:<password>@host/db",
        "https://user:***@host/path and redis://:${REDIS_PASSWORD}@cache",
        "http://localhost:8080/@jane",
        "connect(host=host, password=password)",
        "password=hunter in a form field",
        "password = password1, passwd=pass2, pwd: utf8",
        "token: Optional[str], token = config.oauth2.token_v2, secret: sha256",
        "token: 2026-11-22T10:00:00Z, session_id: your-session-id-1234",
        "mysql -p shop < dump.sql; curl -u user:$PASSWORD https://x.invalid; use --password instead",
        "Basic knowledge of Python, Basic understanding",
        "digest: 0123456789abcdef0123456789abcdef",
        "api_key = os.environ['OPENAI_API_KEY']",
    ],
)
def test_a_placeholder_for_a_credential_is_none(placeholder):
    assert scan(placeholder) == []


def test_every_rule_has_a_secret_planted_for_it():
    assert set(PLANTED) == {rule.name for rule in RULES} | {"email", "high_entropy"}


def test_every_planted_secret_holds_a_hint_of_its_rule():
    """A hint that no match holds would switch its rule off."""
    hints = {name: [hint for rule in RULES if rule.name == name for hint in rule.hints] for name in PLANTED}

    hinted = (*FORMATS, *places.PLACES)
    assert [rule.name for rule in hinted if not any(hint in PLANTED[rule.name] for hint in hints[rule.name])] == []


@pytest.mark.parametrize("text", ["{}", "```json {}```"])
def test_a_secret_in_json_inside_a_text_is_found(text):
    """As in the arguments of a tool call: the n of the line break before it is no letter of the secret."""
    texts = {rule: text.format(json.dumps({"text": f"first line\n{secret}"})) for rule, secret in PLANTED.items()}

    assert [rule for rule in PLANTED if SecretFinding(rule, "$") not in scan(texts[rule])] == []


def test_a_password_with_few_changes_behind_a_login_is_found():
    assert [found.rule for found in scan("log in at https://x.invalid/ as jane / thrYK6361xx")] == ["named_value"]


def test_an_escape_hides_no_secret():
    hidden = json.dumps({"text": PLANTED["url_password"]}).replace("/", "\\/").replace("@", "\\u0040")

    assert scan(hidden) == [SecretFinding("url_password", "$")]


def test_the_most_particular_rule_has_the_word():
    assert scan(f"Authorization: Bearer {PLANTED['anthropic_key']}") == [SecretFinding("anthropic_key", "$")]


def test_an_allowed_string_passes_and_another_of_its_kind_does_not():
    known, unknown = "q7Rk2Zp9Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsA", "w4Lm8Vt3Ny6Bc1Hd5Jf0GsAq7Rk2Zp9X"
    allowed = AllowedSecrets(allowed=(an_entry(known),))

    assert scan(known, allowed=allowed) == []
    assert scan(f"{known} {unknown}", allowed=allowed) == [SecretFinding("high_entropy", "$")]


def test_a_string_is_allowed_under_one_rule_only():
    allowed = AllowedSecrets(allowed=(an_entry(PLANTED["aws_key"], rule="high_entropy"),))

    assert scan(PLANTED["aws_key"], allowed=allowed) == [SecretFinding("aws_key", "$")]


def test_a_finding_names_the_digest_that_would_allow_it():
    secret = PLANTED["aws_key"]

    assert scan(f"see {secret}")[0].sha256 == hashlib.sha256(secret.encode()).hexdigest()


def test_nothing_that_is_committed_looks_like_a_secret():
    """All cases of the dataset, line by line. Cassettes are scanned when they are read; none has an allow-list."""
    cases = [path for path in (REPOSITORY / "datasets").rglob("*") if path.suffix in {".md", ".yaml", ".py", ".patch"}]
    lines = {line for path in cases for line in path.read_text(encoding="utf-8").splitlines()}

    assert len(lines) > 1000
    assert unsuspicious([], lines) or scan([*lines]) == []
    assert [*(REPOSITORY / "cassettes").rglob(FILE)] == []


def escaped(text):
    """Every character as JSON may spell it too."""
    return "".join(f"\\u{ord(character):04x}" for character in text)


PLACES = {
    "a value": lambda secret: json.dumps(a_chat_request(f"see {secret} here")),
    "a name": lambda secret: json.dumps({secret: 1}),
    "escapes": lambda secret: f'{{"a": ["{escaped(secret)}"]}}',
    "JSON inside a text": lambda secret: json.dumps({"a": f'{{"b": "{escaped(secret)}"}}'}),
    "a member that another one hides": lambda secret: f'{{"a": {json.dumps(secret)}, "a": 1}}',
}


@pytest.mark.parametrize("place", PLACES)
def test_the_quick_look_passes_no_secret(place):
    bodies = {rule: PLACES[place](secret) for rule, secret in PLANTED.items()}

    assert [rule for rule in PLANTED if unsuspicious(["{}", bodies[rule]], [])] == []


def test_the_quick_look_passes_no_secret_beside_the_bodies():
    assert [rule for rule in PLANTED if unsuspicious([], ["fine", PLANTED[rule]])] == []


def test_the_quick_look_sees_a_format_that_spans_lines():
    assert not unsuspicious([json.dumps("Bearer\n" + "abcdef0123456789abcdef")], [])


def test_the_quick_look_passes_prose():
    assert unsuspicious([json.dumps(a_chat_request("Why does it crash?")), json.dumps(a_chat_answer())], ["critic"])


def test_a_format_that_spans_lines_is_seen_though_each_line_was_harmless_before():
    harmless = ["Bearer\nof news", "digest:\nabcdef0123456789abcdef"]
    assert [found for text in harmless for found in scan_text(text)] == []

    assert [rule for rule, _ in scan_text("digest:\nBearer\nabcdef0123456789abcdef")] == ["bearer_token"]


def test_a_line_that_holds_a_key_is_seen_each_time():
    text = f"all is well\n{PLANTED['github_token']}"

    assert [[rule for rule, _ in scan_text(text)] for _ in range(2)] == [["github_token"]] * 2
