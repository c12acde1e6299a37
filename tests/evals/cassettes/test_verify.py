"""Everything that can be wrong with committed cassettes is found, by file and line."""

import json

import pytest

from evals.cassettes.cassette_files import drop, merge_write
from evals.cassettes.manifest import NAME, verify, write
from evals.secret_filter import FILE, digest_of
from tests.builders.interaction import PLANTED, an_interaction
from tests.builders.secret import an_entry

NEEDED, GONE = "q7Rk2Zp9Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsA", "Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsAq7Rk2Zp9"


@pytest.fixture
def folder(tmp_path):
    """Two sound cassettes, listed."""
    for name in ("a", "b"):
        merge_write(tmp_path / f"{name}.yaml", [an_interaction(name), an_interaction(f"{name} again")])
    write(tmp_path)
    return tmp_path


def said_of(folder, *only):
    return [str(finding).replace(f"{folder}/", "") for finding in verify(folder, only).findings]


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


DAMAGE = {
    "another spelling": (
        lambda folder: edit(folder / "a.yaml", "   method: POST", '   method: "POST"'),
        ["a.yaml:10: not spelled as recorded", f"{NAME}:1: a.yaml is another file than the one listed"],
    ),
    "a comment": (lambda folder: edit(folder / "b.yaml", "version: 1\n", "version: 1\n# mine\n"), ["b.yaml:"]),
    "a changed date": (
        lambda folder: edit(folder / "a.yaml", "2026-11-21T12", "2026-11-21T13"),
        [f"{NAME}:1: a.yaml is another file than the one listed; if its change was meant, run `evals cassette"],
    ),
    "an interaction taken out": (
        lambda folder: drop(folder / "a.yaml", {(an_interaction("a").key, 0)}),
        [f"{NAME}:1: a.yaml is another file"],
    ),
    "a secret": (
        lambda folder: edit(folder / "a.yaml", "version: 1", f"# {PLANTED['openai_key']}\nversion: 1"),
        ["openai_key: a secret must not stand here"],
    ),
    "a wrong count": (lambda folder: edit(folder / "b.yaml", "count: 2", "count: 3"), ["b.yaml:3: x_replay.count"]),
    "a file that vanished": (
        lambda folder: (folder / "b.yaml").unlink(),
        [f"{NAME}:2: b.yaml is listed and not there; restore it"],
    ),
    "a file nobody listed": (
        lambda folder: merge_write(folder / "c.yaml", [an_interaction("c")]),
        [f"{NAME}: c.yaml is not listed; run `evals cassette tidy`"],
    ),
    "no manifest": (lambda folder: (folder / NAME).unlink(), [f"{NAME}: a.yaml is not listed"]),
    "a manifest of other bytes": (lambda folder: (folder / NAME).write_bytes(b"{}\n\xff"), [f"{NAME}:2: not UTF-8"]),
    "no line of a manifest": (lambda folder: edit(folder / NAME, '"file"', "file"), [f"{NAME}:1: no line of"]),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_wrong_is_said(folder, kind):
    damage, due = DAMAGE[kind]
    damage(folder)

    found = said_of(folder)

    assert all(any(part in line for line in found) for part in due), found


def test_an_old_line_that_a_merge_left_beside_the_new_one_is_no_fault(folder):
    old = (folder / NAME).read_text()
    merge_write(folder / "a.yaml", [an_interaction("more")])
    write(folder)

    (folder / NAME).write_text((folder / NAME).read_text() + old)

    assert said_of(folder) == []


@pytest.fixture
def allowing(tmp_path):
    """A sound cassette that needs one exception, and a list that has two; the folder and the list."""
    folder = tmp_path / "cassettes"
    folder.mkdir()
    entries = [an_entry(secret).model_dump(mode="json") for secret in (NEEDED, GONE)]
    texts = ["".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items()) for entry in entries]
    (folder / FILE).write_text("".join(f"[[allowed]]\n{text}" for text in texts).replace('"2026-11-22"', "2026-11-22"))
    merge_write(folder / "a.yaml", [an_interaction(f"see {NEEDED}")])
    write(folder)
    return folder


def test_an_exception_nothing_needs_any_more_is_named_with_its_line(allowing):
    stale = digest_of(GONE)[:12]

    assert said_of(allowing) == [f"{FILE}:8: high_entropy {stale} is allowed and in no cassette; take it out"]


def test_an_exception_is_not_called_stale_while_some_cassette_was_not_read(allowing):
    """It may be the one that needs it."""
    merge_write(allowing / "b.yaml", [an_interaction()])
    write(allowing)
    edit(allowing / "b.yaml", "count: 1", "count: 2")

    assert not any(FILE in line for line in [*said_of(allowing), *said_of(allowing, "a")])


def test_no_finding_repeats_a_secret(folder):
    DAMAGE["a secret"][0](folder)

    assert PLANTED["openai_key"] not in "\n".join(said_of(folder))
