"""The lines of prompt files that changed since a revision, found by a real git."""

import pytest

from evals.prompt_versions import changed_lines
from evals.triage.pack import PACK
from tests.builders.git import committed, git
from tests.builders.run import a_variant_info

PATH = "triage/prompts/supervisor/v3.md"
LINES = [f"line {n}" for n in range(1, 9)]


def write(folder, lines, path=PATH):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def repository(tmp_path):
    """One commit on main, with a prompt of eight lines."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    write(tmp_path, LINES)
    committed(tmp_path, "start")
    return tmp_path


def test_an_edit_nobody_committed_yet_is_found(repository):
    write(repository, [*LINES[:2], "other", "and more", *LINES[3:]])

    assert changed_lines([], repository, "HEAD", PACK) == ((PATH, 3, 4),)


def test_lines_that_went_point_at_where_they_were(repository):
    write(repository, LINES[:4] + LINES[5:])

    assert changed_lines([], repository, "HEAD", PACK) == ((PATH, 4, 4),)


def test_a_whole_branch_counts_but_not_what_main_did_since(repository):
    git(repository, "switch", "--quiet", "--create", "branch")
    write(repository, [*LINES, "mine"])
    committed(repository, "mine")
    git(repository, "switch", "--quiet", "main")
    write(repository, ["theirs", *LINES])
    committed(repository, "theirs")
    git(repository, "switch", "--quiet", "branch")

    assert changed_lines([], repository, "main", PACK) == ((PATH, 9, 9),)


def test_a_variants_own_file_counts_wherever_it_is(repository):
    write(repository, LINES, "mine.md")
    write(repository, LINES, "other.md")
    committed(repository, "more")
    write(repository, ["new", *LINES], "mine.md")
    write(repository, ["new", *LINES], "other.md")

    found = changed_lines([a_variant_info("mine", prompt_source="mine.md")], repository, "HEAD", PACK)

    assert found == (("mine.md", 1, 1),)


def test_nothing_is_found_and_nothing_fails_where_there_is_no_such_revision(repository):
    assert changed_lines([], repository, "origin/nosuch", PACK) == ()


def test_nothing_is_found_and_nothing_fails_outside_a_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    assert changed_lines([], tmp_path, "HEAD", PACK) == ()
