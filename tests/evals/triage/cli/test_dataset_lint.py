"""`evals dataset lint`: what it prints and how it exits; the faults it finds are in `test_dataset_faults.py`."""

import json

import pytest

from evals.errors import ConfigurationError
from evals.triage.cli.dataset_commands import lint
from tests.builders.dataset import a_codebase, a_sound_dataset


def a_checkout(root):
    a_sound_dataset(root / "datasets")
    return root


def test_a_sound_dataset_exits_with_0(tmp_path, capsys):
    assert lint(jobs=1, root=a_checkout(tmp_path)) == 0
    assert capsys.readouterr().out.endswith("no findings\n")


def test_a_finding_exits_with_1_and_names_file_and_line(tmp_path, capsys):
    a_codebase(a_checkout(tmp_path) / "datasets", tests__test_cart="")

    assert lint(jobs=1, root=tmp_path) == 1
    assert "datasets/codebases/shop/tests:1: shop: codebase_tests_pass: " in capsys.readouterr().out


def test_findings_can_be_had_as_json(tmp_path, capsys):
    a_codebase(a_checkout(tmp_path) / "datasets", tests__test_cart="")
    lint(jobs=1, root=tmp_path, as_json=True)

    [finding] = json.loads(capsys.readouterr().out)
    assert finding["path"] == "datasets/codebases/shop/tests"
    assert finding["line"] == 1


def test_another_dataset_can_be_linted(tmp_path, capsys):
    a_checkout(tmp_path)
    other = a_sound_dataset(tmp_path / "other")
    a_codebase(other, tests__test_cart="")

    assert lint(jobs=1, root=tmp_path, dataset=other) == 1
    assert "other/codebases/shop/tests:1: " in capsys.readouterr().out


def test_a_case_that_is_not_there_cannot_be_linted(tmp_path):
    with pytest.raises(ConfigurationError, match="--case nowhere: there is no such case"):
        lint(case=["nowhere"], jobs=1, root=a_checkout(tmp_path))


def test_a_folder_without_datasets_is_no_checkout(tmp_path):
    with pytest.raises(ConfigurationError, match="holds no datasets"):
        lint(root=tmp_path)
