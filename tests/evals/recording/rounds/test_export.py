"""A round on disk: whole cases, in a fixed order, complete or not there."""

import json

import pytest

from evals.errors import SecretFoundError
from evals.recording.batch_files import custom_id, rounds_in, write_round
from evals.secret_filter import AllowedSecrets
from tests.builders.batch import a_pending
from tests.builders.interaction import PLANTED
from tests.builders.secret import an_entry


def test_a_line_is_a_request_of_the_batch_api(tmp_path):
    asked = a_pending("Why\u2028 or \U0001f40d?")
    found = write_round(tmp_path, [asked], shards=1)

    [line] = (tmp_path / "round-001" / "shard-1.jsonl").read_bytes().splitlines()
    assert json.loads(line) == {
        "custom_id": asked.request.key,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": json.loads(asked.request.body),
    }
    assert found.ids() == [asked.custom_id]


def test_a_case_is_never_split_and_the_shards_are_even(tmp_path):
    pending = [a_pending(f"{case} {k}", case) for case in "abc" for k in range(4 if case == "a" else 2)]
    found = write_round(tmp_path, pending, shards=2)

    asked = [path.read_text(encoding="utf-8") for path in found.shards]
    assert [{case for case in "abc" if f'"{case} ' in text} for text in asked] == [{"a"}, {"b", "c"}]
    assert [text.count("\n") for text in asked] == [4, 4]


def test_the_order_in_which_trials_ran_does_not_show(tmp_path):
    pending = [a_pending("one"), a_pending("two"), a_pending("three", "another-case")]
    first, second = (write_round(tmp_path / name, order, 1) for name, order in (("a", pending), ("b", pending[::-1])))

    assert first.shards[0].read_bytes() == second.shards[0].read_bytes()


def test_a_round_nobody_answered_is_not_written_twice(tmp_path):
    for _ in range(2):
        found = write_round(tmp_path, [a_pending()], shards=1)

    assert found.number == 1
    assert len(rounds_in(tmp_path)) == 1


def test_a_round_that_was_answered_is_followed_by_the_next(tmp_path):
    """Even where it asks the same again: the answers to the first stay what they were."""
    first = write_round(tmp_path, [a_pending()], shards=1)
    (first.folder / "answers-1.jsonl").write_text("")

    assert write_round(tmp_path, [a_pending()], shards=1).folder.name == "round-002"


def test_what_a_killed_export_left_is_no_round(tmp_path):
    left = tmp_path / ".round-001.tmp"
    left.mkdir(parents=True)
    (left / "shard-7.jsonl").write_text("half a li")
    found = write_round(tmp_path, [a_pending()], shards=1)

    assert [path.name for path in found.shards] == ["shard-1.jsonl"]


def test_a_request_with_what_somebody_has_allowed_is_handed_out(tmp_path):
    """As a live recording would send it."""
    entry = an_entry(PLANTED["openai_key"], "openai_key")
    found = write_round(
        tmp_path, [a_pending(f"my key is {PLANTED['openai_key']}")], 1, AllowedSecrets(allowed=(entry,))
    )

    assert len(found.ids()) == 1


def test_a_request_with_a_secret_is_not_handed_out(tmp_path):
    with pytest.raises(
        SecretFoundError, match=r"openai_key at body\.messages\[0\]\.content of a request by critic"
    ) as error:
        write_round(tmp_path, [a_pending(f"my key is {PLANTED['openai_key']}")], shards=1)

    assert PLANTED["openai_key"] not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_samples_of_one_request_have_names_of_their_own():
    """The Batch API wants them unique in a file, and no longer than 64 characters."""
    names = {custom_id("0" * 64, sample) for sample in range(12)}

    assert len(names) == 12
    assert max(map(len, names)) == 64
