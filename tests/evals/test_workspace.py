"""Where a checkout keeps its data, and another dataset in its place."""

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


def test_a_folder_without_a_dataset_is_no_checkout(tmp_path):
    with pytest.raises(ConfigurationError, match="holds no datasets"):
        Workspace.at(tmp_path)
