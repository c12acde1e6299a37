"""Prompts as of a revision, from a real repository."""

import subprocess

import pytest

from evals.errors import ConfigurationError
from evals.prompt_versions import PromptRevision
from evals.triage.pack import PACK
from tests.builders.dataset import write

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")


@pytest.fixture
def repository(tmp_path):
    """Two commits of a file: first, then second."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for text in ("first", "second"):
        write(tmp_path / "mine.md", text)
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        subprocess.run(["git", *WHO, "commit", "-qm", text], cwd=tmp_path, check=True)
    write(tmp_path / "mine.md", "not committed")
    return tmp_path


@pytest.mark.parametrize(("revision", "text"), [("HEAD", "second"), ("HEAD~1", "first")])
def test_the_text_is_that_of_the_revision_not_of_the_working_tree(repository, revision, text):
    assert PromptRevision.parse(f"git:{revision}:mine.md", "v3", PACK).read(repository) == text


def test_a_bare_revision_means_the_prompt_named_beside_it():
    revision = PromptRevision.parse("git:main", "v3", PACK)

    assert (revision.what, revision.name) == ("v3", "v3@main")


def test_paths_are_those_of_the_checkout_wherever_it_stands_in_the_repository(repository):
    write(repository / "below" / "mine.md", "of the checkout")
    subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
    subprocess.run(["git", *WHO, "commit", "-qm", "below"], cwd=repository, check=True)

    assert PromptRevision.parse("git:HEAD:mine.md", "v3", PACK).read(repository / "below") == "of the checkout"


WRONG = {
    "git:nosuch:mine.md": "no such revision",
    "git:--help:mine.md": "no such revision",
    "git:HEAD:gone.md": "there is no gone.md in that revision",
}


@pytest.mark.parametrize(("spec", "cause"), WRONG.items(), ids=WRONG.keys())
def test_what_git_does_not_know_is_one_clear_error(repository, spec, cause):
    with pytest.raises(ConfigurationError, match=cause):
        PromptRevision.parse(spec, "v3", PACK).read(repository)


def test_no_revision_at_all_is_a_clear_error():
    with pytest.raises(ConfigurationError, match="names no revision"):
        PromptRevision.parse("git:", "v3", PACK)
