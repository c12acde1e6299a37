"""The list of committed cassettes."""

import json

import pytest

from evals.cassettes.cassette_files import merge_write
from evals.cassettes.manifest import NAME, enter, listed, unlisted, write
from evals.content_cache import digest_of
from evals.errors import CassetteError
from tests.builders.interaction import an_interaction


@pytest.fixture
def folder(tmp_path):
    """Three cassettes, listed."""
    for name in ("b", "c", "a"):
        merge_write(tmp_path / f"{name}.yaml", [an_interaction(name)])
    write(tmp_path)
    return tmp_path


def test_a_line_says_what_a_cassette_holds(folder):
    merge_write(folder / "a.yaml", [an_interaction("more", recorded_at="2026-12-01T00:00:00+00:00", model="large")])
    enter(folder / "a.yaml")

    line = json.loads((folder / NAME).read_text().splitlines()[0])

    assert len(line.pop("sha256")) == 64
    assert line == {
        "file": "a.yaml",
        "schema": 2,
        "interactions": 2,
        "recorded_from": "2026-11-21T12:00:00+00:00",
        "recorded_to": "2026-12-01T00:00:00+00:00",
        "models": ["large", "small-0.5b"],
    }


def test_entering_one_cassette_leaves_the_other_lines_alone(folder):
    before = (folder / NAME).read_text().splitlines()
    merge_write(folder / "b.yaml", [an_interaction("more")])

    enter(folder / "b.yaml")

    after = (folder / NAME).read_text().splitlines()
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_a_line_that_is_none_is_an_error_with_its_number(folder):
    text = (folder / NAME).read_text().replace('"b.yaml"', "7")
    (folder / NAME).write_text(text)

    with pytest.raises(CassetteError, match=r"manifest\.jsonl:2: no line of a manifest; run `evals cassette tidy`"):
        listed(folder)


def test_who_answered_cannot_be_changed_where_the_manifest_lists_the_file(folder):
    path = folder / "b.yaml"
    path.write_text(path.read_text().replace('model: "small-0.5b"', 'model: "large-0.5b"'))

    digests = {name: digest_of((folder / name).read_bytes()) for name in ("a.yaml", "b.yaml", "c.yaml")}
    (said,) = unlisted(folder, digests)
    assert said.startswith("b.yaml is another file than the one listed; if its change was meant, run `evals cassette")
