"""The keys this process holds are secrets, whatever they look like and however they are spelled."""

import base64
import json
from urllib.parse import quote

import pytest

from evals.secret_filter import scan, scrub, unsuspicious
from evals.shared.secrets.rule import hold, release

KEY = "team-shared-key-01"  # no format, no randomness: only who holds it knows
SPELLINGS = {
    "literally": KEY,
    "backwards": KEY[::-1],
    "percent-encoded": quote(KEY, safe=""),
    "every byte percent-encoded": "".join(f"%{byte:02X}" for byte in KEY.encode()),
    "hex": KEY.encode().hex(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a login": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "base64 after one letter": base64.b64encode(f"x{KEY} and more".encode()).decode(),
    "escaped JSON in prose": f"Result: {json.dumps(KEY)}".replace("t", "\\u0074"),
}


@pytest.fixture(autouse=True)
def held():
    hold(KEY, "", "none")
    yield
    release()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_key_in_use_is_found_in_every_spelling(spelling):
    text = f"the endpoint said {SPELLINGS[spelling]} to us"

    assert "key_in_use" in {found.rule for found in scan({"system_fingerprint": text})}
    assert KEY not in scrub(text)
    assert not unsuspicious([json.dumps({"content": text})], [])


def test_dummy_keys_of_local_servers_are_no_secrets():
    assert scan({"content": "none of it"}) == []


def test_a_key_that_is_not_held_is_a_word():
    release()

    assert scan({"content": KEY}) == []
