"""`evals dataset import`: what it prints, writes, and how it exits."""

import json

import pytest

from evals.triage.dataset.load_cases import load_cases
from tests.builders.command import command
from tests.builders.foreign import (
    a_github_issue,
    a_locbench_row,
    a_swebench_row,
    as_json_lines,
)


def a_source(source, folder):
    row = {"swebench": a_swebench_row, "locagent": a_locbench_row, "github": a_github_issue}[source]()
    return as_json_lines(folder / "rows.jsonl", row)


@pytest.mark.parametrize("source", ["swebench", "locagent", "github"])
def test_every_source_becomes_a_dataset_that_loads(tmp_path, source):
    said = command("dataset", "import", source, a_source(source, tmp_path), "--out", tmp_path / "out")

    assert (said.code, said.err) == (0, "")
    assert [case.labels.origin.source for case in load_cases(tmp_path / "out").values()] == [source]


def test_the_table_names_each_refused_row_and_why(tmp_path):
    path = as_json_lines(tmp_path / "rows.jsonl", a_swebench_row(), a_swebench_row(instance_id="b[red]", patch=""))

    said = command("dataset", "import", "swebench", path, "--out", tmp_path / "out")

    text = " ".join(said.out.replace("│", " ").split())
    assert "imported 1, skipped 1" in text
    assert "2 b[red] skipped its patch is empty: nothing says where the fault was" in text
    assert "functions not stated: 1" in text


def test_the_report_lies_beside_the_cases_and_names_no_folder_of_the_machine(tmp_path):
    command("dataset", "import", "github", a_source("github", tmp_path), "--out", tmp_path / "out")

    report = (tmp_path / "out" / "import-report.json").read_text()
    assert [one["id"] for one in json.loads(report)["imported"]] == ["example-shop-7"]
    assert str(tmp_path) not in report


@pytest.mark.parametrize(
    ("source", "rows", "complaint"),
    [
        ("jira", "rows.jsonl", "it is one of swebench, locagent, github"),
        ("swebench", "nowhere.jsonl", "there is no such file"),
        ("locagent", "rows.jsonl", "nothing could be imported"),
    ],
)
def test_what_cannot_be_imported_is_one_line_and_exit_2(tmp_path, source, rows, complaint):
    as_json_lines(tmp_path / "rows.jsonl", "nonsense")

    said = command("dataset", "import", source, tmp_path / rows, "--out", tmp_path / "out")

    assert said.code == 2
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty_exits_with_2(tmp_path):
    path = a_source("swebench", tmp_path)

    said = command("dataset", "import", "swebench", path, "--out", tmp_path)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "is there already and not empty" in said.err
