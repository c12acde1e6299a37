"""`evals report --out FILE.csv`: a stored run as a table in a file."""

import importlib.util

import pandas as pd
import pytest

from evals.report.run_files import write_report
from tests.builders.command import command
from tests.builders.run import a_run, a_trial
from tests.builders.trace import a_decision, a_trace, an_override

WITH_PYARROW = importlib.util.find_spec("pyarrow") is not None


@pytest.fixture
def stored(tmp_path):
    """A run of one trial: four scores less one, two decisions, one of them overruled."""
    made = [
        a_decision(0, "writer", routed="investigator", overrides=[an_override(), an_override("critic_gate")]),
        a_decision(1),
    ]
    write_report(a_run(a_trial(a_trace(decisions=made))), tmp_path)
    return tmp_path / "run.json"


def test_the_table_has_a_row_per_score(stored, tmp_path):
    said = command("report", stored, "--out", tmp_path / "t.csv")

    assert said.code == 0
    assert list(pd.read_csv(tmp_path / "t.csv")["scorer"]) == ["route.pass", "root_cause.hit", "decision.score"]


def test_decisions_have_a_row_each_with_what_overruled_them(stored, tmp_path):
    command("report", stored, "--decisions", "--out", tmp_path / "d.csv")

    table = pd.read_csv(tmp_path / "d.csv", keep_default_na=False)
    assert list(table["routed"]) == ["investigator", "writer"]
    assert list(table["overrides"]) == ["investigator_first,critic_gate", ""]


def test_another_ending_is_refused_before_anything_is_read(tmp_path):
    said = command("report", tmp_path / "no-run.json", "--out", tmp_path / "t.xlsx")

    assert said.code == 2
    assert said.err.endswith("t.xlsx: name a folder, or a file that ends in .csv or .parquet\n")


@pytest.mark.parametrize("option", [(), ("--decisions",)])
def test_a_table_without_rows_keeps_its_columns(stored, tmp_path, option):
    write_report(a_run().model_copy(update={"trials": ()}), tmp_path / "empty")
    for run, name in ((stored, "full.csv"), (tmp_path / "empty" / "run.json", "empty.csv")):
        assert command("report", run, *option, "--out", tmp_path / name).code == 0

    full, empty = (pd.read_csv(tmp_path / name) for name in ("full.csv", "empty.csv"))
    assert len(empty) == 0
    assert list(empty.columns) == list(full.columns)


def test_a_folder_that_is_not_there_is_said_to_be_the_reason(stored, tmp_path):
    said = command("report", stored, "--out", tmp_path / "nowhere" / "t.csv")

    assert said.code == 2
    assert "nowhere" in said.err.partition("cannot be written (")[2]


@pytest.mark.skipif(WITH_PYARROW, reason="pyarrow is installed")
def test_without_pyarrow_parquet_is_one_line_that_says_what_to_do(stored, tmp_path):
    said = command("report", stored, "--out", tmp_path / "t.parquet")

    assert said.code == 2
    assert said.err.endswith("Parquet needs the extra: pip install 'triage-evals[parquet]', or name a .csv file\n")
    assert not (tmp_path / "t.parquet").exists()


@pytest.mark.skipif(not WITH_PYARROW, reason="pyarrow is an extra")
@pytest.mark.parametrize("option", [(), ("--decisions",)])
def test_parquet_reads_back_as_the_csv_does(stored, tmp_path, option):
    for name in ("t.csv", "t.parquet"):
        command("report", stored, *option, "--out", tmp_path / name)

    text = pd.read_csv(tmp_path / "t.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), text, check_dtype=False)
