"""The dataset commands: what they print and how they exit."""

import json

import pytest
from rich.console import Console

from evals.cli.commands.dataset import derive_gold, lint, schema, stats
from evals.dataset.finding import Surroundings
from evals.errors import ConfigurationError, DatasetError
from tests.builders.dataset import a_codebase, a_sound_dataset


def a_checkout(root):
    a_sound_dataset(root / "datasets")
    return root


def test_lint_of_a_sound_dataset_exits_with_0(tmp_path, capsys):
    assert lint(a_checkout(tmp_path), jobs=1) == 0
    assert capsys.readouterr().out.endswith("no findings\n")


def test_lint_exits_with_1_and_names_file_and_line(tmp_path, capsys):
    a_codebase(a_checkout(tmp_path) / "datasets", tests__test_cart="")

    assert lint(tmp_path, jobs=1) == 1
    assert "datasets/codebases/shop/tests:1: shop: codebase_tests_pass: " in capsys.readouterr().out


def test_lint_says_what_it_could_not_check(tmp_path, capsys):
    lint(a_checkout(tmp_path), jobs=1, surroundings=Surroundings())

    assert "not checked: routes_are_possible" in capsys.readouterr().out


def test_stats_counts_cases_by_slice(tmp_path):
    console = Console(record=True, width=100)
    stats(a_checkout(tmp_path), console)

    lines = [" ".join(line.replace("│", " ").split()) for line in console.export_text().splitlines()]
    assert "split gate 1" in lines


def test_stats_shows_what_needs_no_model(tmp_path):
    console = Console(record=True, width=100)
    stats(a_checkout(tmp_path), console)

    assert "BM25 first file" in console.export_text()


def test_the_schema_is_json_and_closed(capsys):
    schema()

    assert json.loads(capsys.readouterr().out)["additionalProperties"] is False


def test_derived_gold_is_printed_ready_to_paste(tmp_path, capsys):
    derive_gold(a_checkout(tmp_path), "wrong-total")

    assert capsys.readouterr().out == "gold:\n  files:\n  - shop/cart.py\n  functions:\n  - shop/cart.py::net_total\n"


def test_gold_of_a_case_without_a_patch_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="without a patch gold is empty"):
        derive_gold(a_checkout(tmp_path), "which-region")


def test_a_folder_without_datasets_is_no_checkout(tmp_path):
    with pytest.raises(ConfigurationError, match="holds no datasets"):
        lint(tmp_path)
