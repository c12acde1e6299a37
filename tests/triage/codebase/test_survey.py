"""What is searched of a checkout: git's own answer where there is one, else a plain rule; and counts of the rest."""

import hashlib
import os

import pytest

from tests.builders.git import git
from tests.builders.repository import a_repository
from triage.codebase.source_files import MAX_FILE_BYTES, MAX_MARKUP_CHARS, Why, survey

LINE = "x = 1\n"


def a_checkout(root, files, *, tracked=()):
    """A git repository that tracks some of its files."""
    a_repository(root, dict.fromkeys(files, LINE))
    git(root, "init", "--quiet")
    if tracked:
        git(root, "add", "--force", *tracked)
    return root


def names(root):
    return list(survey(root).texts)


def test_what_git_ignores_is_not_searched(tmp_path):
    root = a_checkout(tmp_path, ["a.py", "out/b.py", "sub/c.py", "sub/d.py"])
    (root / ".gitignore").write_text("out/\n")
    (root / "sub" / ".gitignore").write_text("d.py\n")

    assert names(root) == ["a.py", "sub/c.py"]


def test_a_tracked_folder_is_source_whatever_its_name_and_an_untracked_one_may_be_generated(tmp_path):
    root = a_checkout(tmp_path, ["build/wheel.py", "dist/made.py", "a.py"], tracked=["build/wheel.py", "a.py"])

    assert names(root) == ["a.py", "build/wheel.py"]
    assert survey(root).left_out == {Why.GENERATED: 1}


def test_a_repository_within_the_repository_is_searched_too(tmp_path):
    a_checkout(tmp_path, ["a.py"])
    inner = a_checkout(tmp_path / "vendored", ["b.py", "log.py"])
    (inner / ".gitignore").write_text("log.py\n")
    committed = tmp_path / "module"
    a_checkout(committed, ["c.py"], tracked=["c.py"])
    git(committed, "commit", "--quiet", "--message", "start")
    git(tmp_path, "add", "module")

    assert names(tmp_path) == ["a.py", "module/c.py", "vendored/b.py"]


def test_a_submodule_that_was_not_fetched_is_empty(tmp_path):
    committed = a_checkout(tmp_path / "module", ["c.py"], tracked=["c.py"])
    git(committed, "commit", "--quiet", "--message", "start")
    root = a_checkout(tmp_path, ["a.py"], tracked=["a.py", "module"])
    for path in (committed / "c.py", *sorted((committed / ".git").rglob("*"), reverse=True), committed / ".git"):
        path.rmdir() if path.is_dir() else path.unlink()

    assert names(root) == ["a.py"]


def test_a_folder_that_its_repository_ignores_is_searched_by_the_plain_rule(tmp_path):
    """A library in an environment below the checkout."""
    root = a_checkout(tmp_path, [".venv/lib/pkg/a.py", ".venv/lib/pkg/build/b.py", "c.py"])
    (root / ".gitignore").write_text(".venv\n")

    assert names(root / ".venv" / "lib" / "pkg") == ["a.py"]
    assert not survey(root / ".venv" / "lib" / "pkg").by_git


def test_a_file_that_was_deleted_is_in_no_count(tmp_path):
    root = a_checkout(tmp_path, ["a.py", "b.py"], tracked=["a.py", "b.py"])
    (root / "b.py").unlink()

    assert names(root) == ["a.py"]
    assert survey(root).left_out == {}


def test_git_answers_for_this_repository_even_where_a_hook_runs_us(tmp_path, monkeypatch):
    other = a_checkout(tmp_path / "other", ["o.py"], tracked=["o.py"])
    root = a_checkout(tmp_path / "root", ["a.py", "build/b.py"], tracked=["build/b.py"])
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))

    assert names(root) == ["a.py", "build/b.py"]


def test_no_program_is_run_that_the_settings_of_a_strangers_checkout_name(tmp_path):
    root = a_checkout(tmp_path / "root", ["a.py"], tracked=["a.py"])
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(program))

    assert names(root) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_without_git_the_plain_rule_holds(tmp_path, monkeypatch):
    root = a_checkout(tmp_path, ["a.py", "node_modules/b.js", "out/c.py"])
    (root / ".gitignore").write_text("out/\n")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert names(root) == ["a.py", "out/c.py"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("logo.png", b"\x89PNG\0\0", Why.BINARY),
        ("latin.py", b"caf\xe9", Why.BINARY),
        ("huge.py", b"x" * (MAX_FILE_BYTES + 1), Why.BIG),
        ("tape.yaml", b"x" * (MAX_MARKUP_CHARS + 1), Why.BIG),
        ("rows.CSV", b"1,2\n", Why.NOT_CODE),
        ("poetry.lock", b"x", Why.NOT_CODE),
        (".env", b"x", Why.HIDDEN),
        ("node_modules/c.js", b"x", Why.GENERATED),
    ],
)
@pytest.mark.parametrize("with_git", [True, False])
def test_what_is_no_code_is_counted_by_its_reason(tmp_path, name, content, why, with_git):
    root = a_repository(tmp_path, {name: content, "kept.py": LINE})
    if with_git:
        git(root, "init", "--quiet")

    found = survey(root)
    assert list(found.texts) == ["kept.py"]
    assert found.left_out == {why: 1}


@pytest.mark.parametrize(("name", "content"), [("settings.yaml", "a: 1\n"), ("long.md", "x" * (MAX_MARKUP_CHARS + 1))])
def test_settings_and_prose_are_searched(tmp_path, name, content):
    assert names(a_repository(tmp_path, {name: content})) == [name]


def test_a_link_is_not_followed_and_counted(tmp_path):
    root = a_repository(tmp_path, {"a.py": LINE})
    (root / "link.py").symlink_to(root / "a.py")

    assert survey(root).left_out == {Why.LINK: 1}


def test_a_file_that_cannot_be_read_costs_itself_alone(tmp_path):
    root = a_repository(tmp_path, {"a.py": LINE})
    os.mkfifo(root / "pipe.py")
    (root / os.fsdecode(b"caf\xe9.py")).write_text(LINE)

    found = survey(root)
    assert list(found.texts) == ["a.py"]
    assert found.left_out == {Why.UNREADABLE: 2}


def test_what_is_left_out_is_said_in_one_line(tmp_path):
    checkout = a_checkout(tmp_path / "checkout", ["a.py", ".env", "b.csv", "c.csv"])
    folder = a_repository(tmp_path / "folder", {"a.py": LINE})

    assert survey(checkout).omitted() == "what git ignores, 2 not code, 1 hidden"
    assert survey(folder).omitted() == "nothing"


def test_a_linked_folder_is_not_entered_with_or_without_git(tmp_path):
    private = a_checkout(tmp_path / "private", ["secret.py"], tracked=["secret.py"])
    for root in (a_checkout(tmp_path / "checkout", ["a.py"]), a_repository(tmp_path / "folder", {"a.py": LINE})):
        (root / "absolute").symlink_to(private)
        (root / "relative").symlink_to("../private")
        (root / "loop").symlink_to(".")

        found = survey(root)
        assert list(found.texts) == ["a.py"]
        assert found.left_out == {Why.LINK: 3}


def test_a_committed_link_to_a_repository_is_not_entered(tmp_path):
    a_checkout(tmp_path / "private", ["secret.py"], tracked=["secret.py"])
    root = a_checkout(tmp_path / "checkout", ["a.py"], tracked=["a.py"])
    (root / "ext").symlink_to("../private")
    git(root, "add", "ext")

    assert names(root) == ["a.py"]
    assert survey(root).left_out == {Why.LINK: 1}


def test_a_folder_that_was_replaced_by_a_link_is_not_read(tmp_path):
    """The index still lists files in it."""
    a_repository(tmp_path / "private", {"part.py": "secret = 1\n"})
    root = a_checkout(tmp_path / "checkout", ["a.py", "sub/part.py"], tracked=["a.py", "sub/part.py"])
    (root / "sub/part.py").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to("../private")

    found = survey(root)
    assert list(found.texts) == ["a.py"]
    assert found.left_out == {Why.LINK: 2}  # the link, and the file that the index has behind it


def test_a_path_in_the_index_that_leads_out_is_not_read(tmp_path):
    a_repository(tmp_path, {"private.py": "secret = 1\n"})
    root = a_checkout(tmp_path / "checkout", ["a.py", "xx_private.py"], tracked=["a.py", "xx_private.py"])
    index = (root / ".git/index").read_bytes().replace(b"xx_private.py", b"../private.py")[:-20]
    (root / ".git/index").write_bytes(index + hashlib.sha1(index, usedforsecurity=False).digest())
    (root / "xx_private.py").unlink()

    assert names(root) == ["a.py"]


@pytest.mark.parametrize("way", ["a link", "a pointer"])
def test_a_repository_whose_data_lie_elsewhere_is_not_entered(tmp_path, way):
    private = a_checkout(tmp_path / "private", ["secret.py"], tracked=["secret.py"])
    root = a_checkout(tmp_path / "checkout", ["a.py"])
    module = a_repository(root / "module", {"secret.py": LINE})
    if way == "a link":
        (module / ".git").symlink_to(private / ".git")
    else:
        (module / ".git").write_text(f"gitdir: {private / '.git'}\n")

    found = survey(root)
    assert list(found.texts) == ["a.py"]
    assert found.left_out == {Why.LINK: 1}


def test_a_submodule_that_git_keeps_in_the_repository_is_searched(tmp_path):
    a_checkout(tmp_path / "origin", ["c.py"], tracked=["c.py"])
    git(tmp_path / "origin", "commit", "--quiet", "--message", "start")
    root = a_checkout(tmp_path / "checkout", ["a.py"], tracked=["a.py"])
    made = git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../origin", "module")
    assert made.returncode == 0, made.stderr
    assert (root / "module/.git").is_file()

    assert names(root) == ["a.py", "module/c.py"]


@pytest.mark.parametrize("with_git", [True, False])
def test_what_goes_beyond_the_limits_is_left_out_and_said(tmp_path, monkeypatch, with_git):
    monkeypatch.setattr("triage.codebase.source_files.MAX_DEPTH", 3)
    monkeypatch.setattr("triage.codebase.source_files.MAX_DEPTH", 3)
    root = a_repository(tmp_path, {"a.py": LINE, "x/y/b.py": LINE, "x/y/z/c.py": LINE})
    if with_git:
        git(root, "init", "--quiet")
    assert names(root) == ["a.py", "x/y/b.py"]
    assert survey(root).left_out == {Why.BEYOND: 1}
    assert "beyond the limits of 100,000 files, 1,000 MB and 64 folders deep" in survey(root).omitted()

    monkeypatch.setattr("triage.codebase.source_files.MAX_FILES", 1)
    monkeypatch.setattr("triage.codebase.source_files.MAX_FILES", 1)
    assert names(root) == ["a.py"]
    monkeypatch.setattr("triage.codebase.source_files.MAX_TEXT_BYTES", 0)
    assert names(root) == []


def test_a_repository_that_git_does_not_trust_is_searched_by_the_plain_rule_and_it_is_said(tmp_path, monkeypatch):
    root = a_checkout(tmp_path, ["a.py", "out/b.py"], tracked=["a.py"])
    (root / ".gitignore").write_text("out/\n")
    monkeypatch.setattr("evals.shared.git_command._KEPT", ("GIT_TEST_",))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    assert names(root) == ["a.py", "out/b.py"]
    told = survey(root).omitted()
    assert "what git ignores is searched as well: git does not read it, since it belongs to another user" in told
    assert f"safe.directory {root.resolve()}" in told
