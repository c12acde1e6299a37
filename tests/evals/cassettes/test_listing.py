"""A replay does not scan the bytes that the manifest names for a cassette; all others are scanned, and so are these by
whoever verifies."""

import hashlib
import json

import pytest

from evals.cassettes import manifest
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import Readings, load, merge_write, rendered
from evals.cassettes.manifest import verify
from evals.errors import SecretFoundError
from tests.builders.interaction import an_interaction
from tests.builders.secret import PLANTED

SECRET = PLANTED["github_token"]


@pytest.fixture
def kept(tmp_path):
    return Readings(tmp_path / "read")


@pytest.fixture
def path(tmp_path):
    """A cassette with a secret in it, which nobody looked at, beside a manifest that names what it was before."""
    merge_write(tmp_path / "c.yaml", [an_interaction("q")])
    manifest.enter(tmp_path / "c.yaml")
    (tmp_path / "c.yaml").write_text(rendered(Cassette(tmp_path / "c.yaml", [an_interaction("q", recorded_by=SECRET)])))
    return tmp_path / "c.yaml"


def name_by_hand(path, **other):
    """The manifest names the bytes as they are now, though nothing scanned them."""
    [line] = [json.loads(text) for text in path.with_name(manifest.NAME).read_text().splitlines()]
    named = line | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), **other}
    path.with_name(manifest.NAME).write_text(json.dumps(named) + "\n")


def test_bytes_that_differ_from_the_listed_ones_are_scanned(path, kept):
    with pytest.raises(SecretFoundError):
        load(path, kept)


def test_listed_bytes_are_not_scanned_for_a_replay(path, kept):
    name_by_hand(path)

    assert len(load(path, kept).interactions) == 1


def test_listed_bytes_are_scanned_for_everybody_else(path):
    name_by_hand(path)

    with pytest.raises(SecretFoundError):
        load(path)


def test_a_manifest_written_by_hand_does_not_pass_a_look_at_the_cassettes(path):
    name_by_hand(path)

    [found] = verify(path.parent).findings

    assert isinstance(found, SecretFoundError)


def test_a_manifest_is_not_made_of_what_holds_a_secret(path):
    with pytest.raises(SecretFoundError):
        manifest.write(path.parent)


def test_what_the_manifest_lists_under_another_name_is_scanned(path, kept):
    name_by_hand(path, file="other.yaml")

    with pytest.raises(SecretFoundError):
        load(path, kept)


def test_a_reading_of_listed_bytes_is_none_once_they_are_not_listed(path, kept):
    name_by_hand(path)
    load(path, kept)
    path.with_name(manifest.NAME).unlink()

    with pytest.raises(SecretFoundError):
        load(path, kept)


def test_a_broken_manifest_lists_nothing(path, kept):
    name_by_hand(path)
    with path.with_name(manifest.NAME).open("a") as lines:
        lines.write("{\n")

    with pytest.raises(SecretFoundError):
        load(path, kept)


def test_what_was_scanned_before_it_was_listed_is_not_read_again(tmp_path, kept):
    merge_write(tmp_path / "c.yaml", [an_interaction("q")])
    load(tmp_path / "c.yaml", kept)
    before = [each for each in kept.folder.rglob("*") if each.is_file()]
    manifest.enter(tmp_path / "c.yaml")
    load(tmp_path / "c.yaml", kept)

    assert [each for each in kept.folder.rglob("*") if each.is_file()] == before
