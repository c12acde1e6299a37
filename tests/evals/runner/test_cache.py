"""The cache of trials: a damaged entry is as good as none, and a failure is never kept."""

import pytest

from evals.runner.trial_cache import TraceCache
from tests.builders.secret import PLANTED
from tests.builders.trace import a_decision, a_trace

DIGEST = "ab" * 32


def test_a_trace_comes_back_as_it_was(tmp_path):
    store = TraceCache(tmp_path)
    store.put(DIGEST, a_trace())

    assert store.get(DIGEST) == a_trace()
    assert store.get("cd" * 32) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff"])
def test_a_damaged_entry_is_as_good_as_none(tmp_path, damage):
    store = TraceCache(tmp_path)
    store.put(DIGEST, a_trace())
    (tmp_path / DIGEST[:2] / DIGEST).write_bytes(damage)

    assert store.get(DIGEST) is None


def test_no_flipped_bit_is_taken_as_it_is(tmp_path):
    store = TraceCache(tmp_path)
    store.put(DIGEST, a_trace())
    path = tmp_path / DIGEST[:2] / DIGEST
    whole = path.read_bytes()

    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert store.get(DIGEST) is None, place


def test_a_failed_trial_is_never_reused(tmp_path):
    store = TraceCache(tmp_path)
    store.put(DIGEST, a_trace(provenance="failed"))

    assert store.get(DIGEST) is None


def test_a_trial_that_asked_a_live_service_is_never_reused(tmp_path):
    store = TraceCache(tmp_path)
    store.put(DIGEST, a_trace(live=("GET 127.0.0.1/rate",)))

    assert store.get(DIGEST) is None


def test_a_trace_that_holds_a_secret_is_not_kept(tmp_path):
    """As a miss does that says what was asked about an issue with a key in it."""
    store = TraceCache(tmp_path)
    store.put(DIGEST, a_trace(decisions=(a_decision(reasoning=PLANTED["github_token"]),)))

    assert list(tmp_path.rglob("*")) == []
