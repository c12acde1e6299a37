"""Who answers for a recording: the name given, else git's, and none that would be refused with every answer."""

import pytest

from evals.errors import ConfigurationError
from evals.recording.endpoint import author
from evals.secret_filter import FILE, digest_of
from evals.workspace import Workspace
from tests.builders.git import git

ADDRESS = "jane.doe@" + "acme-corp.com"


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "cassettes").mkdir()
    git(tmp_path, "init", "--quiet")
    return Workspace.at(tmp_path)


def test_a_name_that_is_given_comes_before_that_of_git(workspace):
    git(workspace.root, "config", "user.name", "Ada")

    assert (author("Jane", workspace), author(None, workspace)) == ("Jane", "Ada")


def test_an_address_is_refused_before_anything_is_asked(workspace):
    with pytest.raises(ConfigurationError, match=r"--recorded-by: email") as caught:
        author(ADDRESS, workspace)

    assert ADDRESS not in str(caught.value)


def test_an_address_that_git_has_for_a_name_is_refused_too(workspace):
    git(workspace.root, "config", "user.name", ADDRESS)

    with pytest.raises(ConfigurationError, match=r"git's user\.name: email"):
        author(None, workspace)


def test_an_address_that_somebody_allowed_is_a_name(workspace):
    fields = f'sha256 = "{digest_of(ADDRESS)}"\nrule = "email"\nwhy = "ours"\nwho = "jane"\ndate = 2026-11-22\n'
    (workspace.cassettes / FILE).write_text(f"[[allowed]]\n{fields}")

    assert author(ADDRESS, workspace) == ADDRESS


def test_a_name_that_is_no_utf8_is_refused_before_anything_is_asked(workspace):
    with pytest.raises(ConfigurationError, match=r"--recorded-by: no text in UTF-8"):
        author("J\udcf6rg", workspace)


def test_a_name_of_git_that_is_no_utf8_is_refused_too(workspace):
    config = workspace.root / ".git" / "config"
    config.write_bytes(config.read_bytes() + b"[user]\n\tname = J\xf6rg\n")

    with pytest.raises(ConfigurationError, match=r"git's user\.name: no text in UTF-8"):
        author(None, workspace)
