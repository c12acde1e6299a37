"""Where a checkout keeps its data, and another dataset in its place."""

import os

import pytest

from evals.errors import ConfigurationError
from evals.workspace import Workspace


def test_a_checkout_brings_its_own_dataset(tmp_path):
    (tmp_path / "datasets").mkdir()

    assert Workspace.at(tmp_path).datasets == tmp_path.resolve() / "datasets"


def test_another_dataset_takes_its_place_and_nothing_else_moves(tmp_path):
    (tmp_path / "foreign").mkdir()

    found = Workspace.at(tmp_path, tmp_path / "foreign")

    assert found.datasets == tmp_path.resolve() / "foreign"
    assert found.cassettes == tmp_path.resolve() / "cassettes"


@pytest.mark.parametrize("dataset", ["nowhere", "a-file"])
def test_a_dataset_that_is_no_folder_says_how_to_get_one(tmp_path, dataset):
    (tmp_path / "a-file").write_text("")

    with pytest.raises(ConfigurationError, match="`evals dataset import` writes one"):
        Workspace.at(tmp_path, tmp_path / dataset)


@pytest.mark.parametrize("place", ["cassettes/case.yaml", "datasets/web/page.md", "evals/suites/baselines/tiny.json"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_read_for_ever(tmp_path, place):
    (tmp_path / "datasets").mkdir()
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / place)

    with pytest.raises(ConfigurationError, match=f"{place}: a pipe, a socket or a device, and no file; remove it"):
        Workspace.at(tmp_path)


@pytest.mark.parametrize("target", ["/etc/passwd", "/etc", "../../../outside.md"])
def test_a_link_out_of_the_checkout_is_refused_and_not_followed(tmp_path, target):
    (tmp_path / "datasets" / "cases").mkdir(parents=True)
    (tmp_path / "datasets" / "cases" / "issue.md").symlink_to(target)
    (tmp_path.parent / "outside.md").write_text("of somebody else")

    with pytest.raises(ConfigurationError, match=r"issue\.md: a link out of the checkout; put the file itself there"):
        Workspace.at(tmp_path)


def test_a_link_inside_the_checkout_is_a_file_like_any_other(tmp_path):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "a.md").write_text("a")
    (tmp_path / "datasets" / "b.md").symlink_to("a.md")

    assert Workspace.at(tmp_path).datasets == tmp_path.resolve() / "datasets"
