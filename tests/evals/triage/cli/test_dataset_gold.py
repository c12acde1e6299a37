"""`evals dataset show --gold`: derived, not typed."""

import pytest

from evals.errors import DatasetError
from evals.triage.cli.dataset_commands import gold
from tests.builders.dataset import a_sound_dataset


def a_checkout(root):
    a_sound_dataset(root / "datasets")
    return root


def test_gold_is_printed_ready_to_paste(tmp_path, capsys):
    gold("wrong-total", root=a_checkout(tmp_path))

    assert capsys.readouterr().out == "gold:\n  files:\n  - shop/cart.py\n  functions:\n  - shop/cart.py::net_total\n"


def test_a_case_without_a_patch_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="without a patch gold is empty"):
        gold("which-region", root=a_checkout(tmp_path))
