"""Cassette files cut or changed anywhere: refused with file and line, or as good as they were."""

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.cassettes.cassette_files import load, merge_write
from evals.errors import CassetteError
from tests.builders.interaction import a_chat_request, an_interaction, messages
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

BOOKKEEPING = {"agent", "sample", "model", "recorded_at", "recorded_by", "usage", "latency_ms", "status"}
"""Words of `x_meta`, and which 2xx it was: they have no digest in the file and may change into one another."""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("spoiled") / "one.yaml"
    asked = [messages("You triage bugs.\nSay who acts next.\n" * 9, f"Größe {n} 寸法\tand 😀") for n in range(3)]
    requests = [a_chat_request(messages=words, seed=n) for n, words in enumerate(asked)]
    merge_write(
        path, [an_interaction(request=request, recorded_by="me", sample=n % 2) for n, request in enumerate(requests)]
    )
    assert path.stat().st_size > 4200  # the offsets below reach all but its end
    return path


@pytest.fixture(scope="module")
def whole(path):
    return path.read_bytes(), [served(found) for found in load(path).interactions]


def served(interaction):
    """What a replay serves and is keyed by."""
    return interaction.model_dump(exclude=BOOKKEEPING)


def verdict(path, spoiled: bytes):
    """What the file now holds; None if it is refused in one line with file, line and cause."""
    place = path.with_name("spoiled.yaml")
    place.write_bytes(spoiled)
    try:
        return [served(found) for found in load(place).interactions]
    except CassetteError as error:
        return (
            None
            if re.fullmatch(re.escape(f"{place}:") + r"\d+: .+", str(error))
            else f"no file, line and cause: {error}"
        )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 4200))
def test_a_file_cut_anywhere_is_refused(path, whole, where):
    content, _ = whole

    assert verdict(path, content[:where]) is None


def test_a_flipped_bit_is_refused_or_changes_no_answer(path, whole):
    """One bit of every third byte, another one in each; of every byte under `make test EVERY=1`."""
    content, before = whole
    dice = random.Random(8)  # noqa: S311 - bits, not keys
    survivors = []
    for where in range(0, len(content), 1 if every() else 3):
        spoiled = bytearray(content)
        spoiled[where] ^= 1 << dice.randrange(8)
        if verdict(path, bytes(spoiled)) not in (None, before):
            survivors.append((where, content[where - 20 : where + 10], spoiled[where]))

    assert survivors == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 4200), length=st.integers(1, 600), filling=st.sampled_from([b"\0", b" ", b"\n"]))
def test_a_block_that_was_lost_is_refused_or_changes_no_answer(path, whole, where, length, filling):
    """As after a crash of a file system that had only written the length."""
    content, before = whole
    start = where
    gap = content[start : start + length]

    assert verdict(path, content[:start] + filling * len(gap) + content[start + len(gap) :]) in (None, before)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 4200), length=st.integers(1, 400))
def test_lines_that_were_lost_are_never_silently_fewer(path, whole, where, length):
    content, before = whole
    start = where

    assert verdict(path, content[:start] + content[start + length :]) in (None, before)


@pytest.mark.parametrize("number", ["true", '"1"', "1.0"])
def test_what_is_no_count_of_tokens_is_refused(path, whole, number):
    content, _ = whole
    (path.with_name("spoiled.yaml")).write_bytes(
        content.replace(b"prompt_tokens: 11", f"prompt_tokens: {number}".encode(), 1)
    )

    with pytest.raises(CassetteError, match="prompt_tokens: Input should be a valid integer"):
        load(path.with_name("spoiled.yaml"))
