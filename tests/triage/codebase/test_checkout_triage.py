"""Which revision a checkout stands at."""

import pytest

from tests.builders.git import committed, git
from tests.builders.hostile_git import a_hostile_checkout, ran
from tests.builders.repository import a_repository
from triage.codebase.checkout_index import CHANGED, revision_of


@pytest.fixture
def root(tmp_path):
    """A repository with a submodule, as committed."""
    root = a_repository(tmp_path / "root", {"a.py": "a = 1\n", "module/b.py": "b = 1\n"})
    for folder in (root / "module", root):
        git(folder, "init", "--quiet")
        committed(folder, "start")
    return root


def head(root):
    return git(root, "rev-parse", "HEAD").stdout.strip()


def test_a_clean_checkout_is_its_commit(root):
    assert revision_of(root) == head(root)


@pytest.mark.parametrize("name", ["a.py", "new.py", "module/b.py"])
def test_a_changed_file_is_told_also_in_a_submodule(root, name):
    (root / name).write_text("a = 2\n")

    assert revision_of(root) == head(root) + CHANGED


def test_outside_of_git_there_is_no_revision(tmp_path):
    assert revision_of(tmp_path) == ""


def test_a_checkout_that_git_cannot_compare_counts_as_changed(root):
    with (root / ".git/config").open("a") as config:
        config.write('[filter "a=b"]\n\tclean = true\n')

    assert revision_of(root) == head(root) + CHANGED


def test_no_program_is_started_that_the_checkout_names(tmp_path):
    root = a_hostile_checkout(tmp_path / "checkout", tmp_path / "markers")

    assert revision_of(root).endswith(CHANGED)
    assert ran(tmp_path / "markers") == []
