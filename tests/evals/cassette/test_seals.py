"""A seal spares a replay what was verified before for the same bytes, and lets nothing else through."""

import pytest

from evals.cassette import seals, trust
from evals.cassette.allowed_secrets import NOTHING, AllowedSecrets
from evals.cassette.seals import Seals
from evals.cassette.store import load, merge_write
from evals.errors import CassetteError
from tests.builders.interaction import an_interaction
from tests.builders.secret import an_entry


@pytest.fixture
def path(tmp_path):
    merge_write(tmp_path / "c.yaml", [an_interaction("one"), an_interaction("two")])
    return tmp_path / "c.yaml"


@pytest.fixture
def kept(tmp_path):
    return Seals(tmp_path / "seals")


@pytest.fixture
def verified(monkeypatch):
    """The requests whose key was computed again."""
    seen = []
    key_of = trust.request_key
    monkeypatch.setattr(trust, "request_key", lambda *request: seen.append(request) or key_of(*request))
    return seen


def test_the_same_bytes_are_verified_once(path, kept, verified):
    first, second = load(path, kept), load(path, kept)

    assert len(verified) == 2
    assert first.interactions == second.interactions


def test_without_seals_everything_is_verified_each_time(path, kept, verified):
    load(path, kept)
    load(path)

    assert len(verified) == 4


def test_other_bytes_are_verified_again(path, kept, verified):
    load(path, kept)
    path.write_text(path.read_text().replace("T12:00", "T13:00", 1))
    load(path, kept)

    assert len(verified) == 4


@pytest.mark.parametrize("damage", [b"", b"verified", b"\xff"])
def test_a_damaged_seal_is_none(path, kept, verified, damage):
    load(path, kept)
    for seal in kept.folder.iterdir():
        seal.write_bytes(damage)
    load(path, kept)

    assert len(verified) == 4


def test_a_seal_of_another_file_is_none(path, kept):
    kept.put(b"another", NOTHING)
    [seal] = kept.folder.iterdir()
    kept.put(path.read_bytes(), NOTHING)
    [own] = set(kept.folder.iterdir()) - {seal}
    own.write_bytes(seal.read_bytes())

    assert not kept.hold(path.read_bytes(), NOTHING)


def test_other_exceptions_or_other_code_ask_for_another_look(path, kept, monkeypatch):
    content = path.read_bytes()
    kept.put(content, NOTHING)

    assert kept.hold(content, NOTHING)
    assert not kept.hold(content, AllowedSecrets(allowed=(an_entry("x"),)))
    monkeypatch.setattr(seals, "_verifier", lambda: b"other rules")
    assert not kept.hold(content, NOTHING)


def test_what_is_refused_is_not_sealed(path, kept):
    path.write_text(path.read_text().replace("one", "eno", 1))

    with pytest.raises(CassetteError):
        load(path, kept)

    assert not kept.folder.exists()


def test_a_seal_that_was_made_up_lets_no_changed_answer_in(path, kept):
    path.write_text(path.read_text().replace("line 7", "line 8"))
    kept.put(path.read_bytes(), NOTHING)

    with pytest.raises(CassetteError, match="the answer is not the one recorded"):
        load(path, kept)


def test_where_nothing_can_be_written_a_cassette_is_read_all_the_same(path, tmp_path):
    (tmp_path / "file").touch()

    assert len(load(path, Seals(tmp_path / "file")).interactions) == 2
