"""An older cassette becomes one of today, or is refused and left alone."""

import pytest
import yaml

from evals.cassette.migrations import MIGRATIONS, migrate
from evals.cassette.store import load, merge_write
from evals.cassette.vcr_file import SCHEMA
from evals.errors import CassetteError
from tests.builders.interaction import an_interaction


def in_schema_0(path):
    """A file as an older recorder might have left it: the digest of the answer had another name."""
    merge_write(path, [an_interaction("one"), an_interaction("two")])
    text = path.read_text().replace("response_sha256", "digest").replace("schema: 1", "schema: 0")
    path.write_text(text)
    return path


def from_0(data):
    for interaction in data["interactions"]:
        interaction["x_meta"]["response_sha256"] = interaction["x_meta"].pop("digest")
    data["x_replay"]["schema"] = 1
    return data


@pytest.fixture
def old(tmp_path):
    return in_schema_0(tmp_path / "old.yaml")


def test_there_is_a_step_from_every_older_schema():
    assert set(MIGRATIONS) == set(range(1, SCHEMA))


def test_a_file_of_today_stays_byte_for_byte(tmp_path):
    merge_write(tmp_path / "c.yaml", [an_interaction()])
    before = (tmp_path / "c.yaml").read_bytes()

    assert migrate(tmp_path / "c.yaml") is None
    assert (tmp_path / "c.yaml").read_bytes() == before


def test_an_older_file_is_as_if_recorded_today(old, tmp_path):
    merge_write(tmp_path / "new.yaml", [an_interaction("one"), an_interaction("two")])

    assert migrate(old, {0: from_0}) == 0
    assert old.read_bytes() == (tmp_path / "new.yaml").read_bytes()


def test_loading_an_older_file_names_the_command(old):
    with pytest.raises(CassetteError, match=r"old\.yaml:2: x_replay\.schema is 0.*run `evals cassette migrate`"):
        load(old)


def changed(path, **header):
    data = yaml.safe_load(path.read_text())
    data["x_replay"] |= header
    path.write_text(yaml.safe_dump(data))


REFUSED = {
    "a newer schema": (lambda path: changed(path, schema=SCHEMA + 1), {0: from_0}, "update this package"),
    "a schema that never was": (lambda path: changed(path, schema=-3), {0: from_0}, "no step leads out of"),
    "no schema": (lambda path: changed(path, schema=None), {0: from_0}, r"no x_replay\.schema"),
    "a step that loses an answer": (
        lambda path: None,
        {0: lambda data: from_0(data) | {"interactions": data["interactions"][:1]}},
        "count says 2, the file holds 1",
    ),
    "a step that changes an answer": (
        lambda path: path.write_text(path.read_text().replace("line 7", "line 8")),
        {0: from_0},
        "the answer is not the one recorded",
    ),
    "bytes that are no text": (lambda path: path.write_bytes(b"\xff"), {0: from_0}, "not UTF-8"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_migrated_is_refused_and_left_alone(old, kind):
    damage, steps, cause = REFUSED[kind]
    damage(old)
    before = old.read_bytes()

    with pytest.raises(CassetteError, match=cause):
        migrate(old, steps)

    assert old.read_bytes() == before
