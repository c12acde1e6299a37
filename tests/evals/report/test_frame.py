import pytest

from evals.errors import ConfigurationError
from evals.models.metrics import Failed, Scored, Skipped
from evals.report.data_frames import frame
from evals.report.run_files import read_run
from tests.builders.run import a_run, a_trial

OUTCOMES = {
    "route.pass": Scored(value=1.0),
    "root_cause.hit": Failed(error="KeyError: 'x'"),
    "decision.score": Skipped(reason="no decision points"),
}


def test_every_score_of_every_trial_is_a_row():
    table = frame(a_run(a_trial(outcomes=OUTCOMES)))

    assert list(table["outcome"]) == ["scored", "failed", "skipped"]


def test_a_file_that_is_no_run_is_said_to_be_none(tmp_path):
    (tmp_path / "run.json").write_text("{}")

    with pytest.raises(ConfigurationError, match=r"run\.json: not a run"):
        read_run(tmp_path / "run.json")


def test_a_missing_run_says_how_to_make_one(tmp_path):
    with pytest.raises(ConfigurationError, match="evals run SUITE"):
        read_run(tmp_path / "run.json")


def test_a_written_run_reads_back_the_same(tmp_path):
    run = a_run().sealed()
    (tmp_path / "run.json").write_text(run.model_dump_json(by_alias=True))

    assert read_run(tmp_path / "run.json") == run
