"""An older cassette becomes one of today, or is refused and left alone."""

import pytest
import yaml

from evals.cassettes.cassette_files import MIGRATIONS, load, merge_write, migrate, read_any
from evals.cassettes.cassette_format import SCHEMA
from evals.errors import CassetteError, SecretFoundError
from tests.builders.interaction import PLANTED, a_cassette, an_interaction
from tests.builders.written_out import in_schema_1

TWO = [an_interaction("one"), an_interaction("two")]


def in_schema_0(path):
    """A file as an older recorder might have left it: the digest of the answer had another name."""
    text = in_schema_1(a_cassette(*TWO)).replace("response_sha256", "digest").replace("schema: 1", "schema: 0")
    path.write_text(text)
    return path


def from_0(data):
    for interaction in data["interactions"]:
        interaction["x_meta"]["response_sha256"] = interaction["x_meta"].pop("digest")
    data["x_replay"]["schema"] = 1
    return data


FROM_0 = MIGRATIONS | {0: from_0}


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
    merge_write(tmp_path / "new.yaml", TWO)

    assert migrate(old, FROM_0) == 0
    assert old.read_bytes() == (tmp_path / "new.yaml").read_bytes()


def test_loading_an_older_file_names_the_command(old):
    with pytest.raises(CassetteError, match=r"old\.yaml:2: x_replay\.schema is 0.*run `evals cassette tidy`"):
        load(old)


def changed(path, **header):
    data = yaml.safe_load(path.read_text())
    data["x_replay"] |= header
    path.write_text(yaml.safe_dump(data))


REFUSED = {
    "a newer schema": (lambda path: changed(path, schema=SCHEMA + 1), FROM_0, "update this package"),
    "a schema that never was": (lambda path: changed(path, schema=-3), FROM_0, "no step leads out of"),
    "no schema": (lambda path: changed(path, schema=None), FROM_0, r"no x_replay\.schema"),
    "a step that loses an answer": (
        lambda path: None,
        MIGRATIONS | {0: lambda data: from_0(data) | {"interactions": data["interactions"][:1]}},
        "count says 2, the file holds 1",
    ),
    "a step that changes an answer": (
        lambda path: path.write_text(path.read_text().replace("line 7", "line 8")),
        FROM_0,
        "the answer is not the one recorded",
    ),
    "bytes that are no text": (lambda path: path.write_bytes(b"\xff"), FROM_0, "not UTF-8"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_migrated_is_refused_and_left_alone(old, kind):
    damage, steps, cause = REFUSED[kind]
    damage(old)
    before = old.read_bytes()

    with pytest.raises(CassetteError, match=cause):
        migrate(old, steps)

    assert old.read_bytes() == before


def test_schema_1_is_read_as_what_it_was(tmp_path):
    cassette = a_cassette(*TWO, an_interaction("three", sample=2, latency_ms=0.0, recorded_by="me, myself"))
    path = tmp_path / "c.yaml"
    path.write_text(in_schema_1(cassette), encoding="utf-8")

    assert migrate(path) == 1
    assert load(path).interactions == cassette.interactions


def test_a_revision_from_before_the_migration_can_still_be_compared():
    cassette = a_cassette(*TWO)

    assert read_any(in_schema_1(cassette).encode(), cassette.path).interactions == cassette.interactions


def test_a_secret_is_found_in_an_old_revision_too():
    text = in_schema_1(a_cassette(*TWO)) + f"# {PLANTED['openai_key']}\n"

    with pytest.raises(SecretFoundError):
        read_any(text.encode(), a_cassette().path)
