"""What may stand in a cassette, and what a scan finds."""

import random
import string

import pytest

from evals.cassette.redact import SecretFinding, redact_request, redact_response, scan, scrub
from tests.builders.interaction import CHAT, PLANTED, a_chat_answer, a_chat_request

BASE62 = string.ascii_letters + string.digits


@pytest.mark.parametrize("rule", PLANTED)
def test_each_kind_of_secret_is_found_and_located(rule):
    request = a_chat_request(f"see {PLANTED[rule]} here")

    assert scan(request) == [SecretFinding(rule, "$.messages[0].content")]


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
