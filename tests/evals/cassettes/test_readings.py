"""A kept reading spares a replay what was read and verified before for the same bytes, and stands for nothing else."""

import pytest

from evals.cassettes import cassette_files as readings
from evals.cassettes import cassette_files as trust
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import Readings, load, merge_write, rendered
from evals.errors import CassetteError
from evals.secret_filter import NOTHING, AllowedSecrets
from tests.builders.interaction import an_interaction
from tests.builders.secret import an_entry


@pytest.fixture
def path(tmp_path):
    merge_write(tmp_path / "c.yaml", [an_interaction("one"), an_interaction("two")])
    return tmp_path / "c.yaml"


@pytest.fixture
def kept(tmp_path):
    return Readings(tmp_path / "read")


@pytest.fixture
def verified(monkeypatch):
    """The requests whose key was computed again."""
    seen = []
    key_of = trust.parsed_request
    monkeypatch.setattr(trust, "parsed_request", lambda *request: seen.append(request) or key_of(*request))
    return seen


def entries(kept):
    return [path for path in kept.folder.rglob("*") if path.is_file()]


def test_the_same_bytes_are_verified_once(path, kept, verified):
    first, second = load(path, kept), load(path, kept)

    assert len(verified) == 2
    assert first.interactions == second.interactions


def test_without_readings_everything_is_verified_each_time(path, kept, verified):
    load(path, kept)
    load(path)

    assert len(verified) == 4


def test_other_bytes_are_verified_again(path, kept, verified):
    load(path, kept)
    path.write_text(path.read_text().replace("T12:00", "T13:00", 1))
    load(path, kept)

    assert len(verified) == 4


@pytest.mark.parametrize("place", [0, 70, -1])
def test_a_reading_with_a_flipped_bit_is_none(path, kept, verified, place):
    load(path, kept)
    [reading] = entries(kept)
    content = bytearray(reading.read_bytes())
    content[place] ^= 1
    reading.write_bytes(content)
    load(path, kept)

    assert len(verified) == 4


@pytest.mark.parametrize("damage", [b"", b"read", b"\xff\n\xff"])
def test_a_reading_that_was_cut_or_overwritten_is_none(path, kept, verified, damage):
    load(path, kept)
    for reading in entries(kept):
        reading.write_bytes(damage)
    load(path, kept)

    assert len(verified) == 4


def test_a_reading_of_another_file_is_none(path, kept, tmp_path):
    merge_write(tmp_path / "other.yaml", [an_interaction("three")])
    load(tmp_path / "other.yaml", kept)
    [other] = entries(kept)
    load(path, kept)
    [own] = set(entries(kept)) - {other}
    own.write_bytes(other.read_bytes())

    assert kept.get(path.read_bytes(), NOTHING) is None


def test_other_exceptions_or_other_code_ask_for_another_look(path, kept, monkeypatch):
    content = path.read_bytes()
    load(path, kept)

    assert kept.get(content, NOTHING)
    assert kept.get(content, AllowedSecrets(allowed=(an_entry("x"),))) is None
    monkeypatch.setattr(readings, "_reader", lambda: b"other rules")
    assert kept.get(content, NOTHING) is None


def test_what_is_refused_is_not_kept(path, kept):
    path.write_text(path.read_text().replace("one", "eno", 1))

    with pytest.raises(CassetteError):
        load(path, kept)

    assert not kept.folder.exists()


def test_what_json_spells_and_utf_8_cannot_is_read_anew_each_time(tmp_path, kept):
    path = tmp_path / "half.yaml"
    path.write_text(rendered(Cassette(path, [an_interaction("half \ud800 a character")])))

    assert load(path, kept).interactions == load(path, kept).interactions == load(path).interactions


def test_where_nothing_can_be_written_a_cassette_is_read_all_the_same(path, tmp_path):
    (tmp_path / "file").touch()

    assert len(load(path, Readings(tmp_path / "file")).interactions) == 2
