"""`evals dataset lint --disputes`."""

import json
import subprocess
import sys

import pytest

from evals.report.run_files import write_report
from tests.builders.command import command
from tests.builders.dispute import a_disputed_run, an_answer_to
from tests.builders.run import a_run, a_trial
from tests.builders.trace import a_trace


def stored(folder, run):
    """The path of a run that was written."""
    write_report(run, folder)
    return folder / "run.json"


@pytest.fixture
def disputed(tmp_path):
    """A run with one suspect label, of a case of the gate."""
    answers = [an_answer_to("a-crash", who, "P2b", decides=["P2b"]) for who in ("v2", "v3")]
    return stored(tmp_path, a_disputed_run(*answers, gate=["a-crash"]))


def test_a_suspect_is_listed_with_its_evidence_and_nothing_is_judged(disputed):
    said = command("dataset", "lint", "--disputes", str(disputed))

    assert said.code == 0
    for told in ("a-crash", "gate, not to be tuned on", "P2b (soft 2:", "v2: I C K Wr, 0.7", "An index is off by one."):
        assert told in said.out


def test_all_of_it_can_be_had_as_json(disputed):
    said = command("dataset", "lint", "--disputes", str(disputed), "--json")

    assert [item["case"] for item in json.loads(said.out)["labels"]] == ["a-crash"]


def test_a_run_that_is_named_twice_counts_once(disputed):
    said = command("dataset", "lint", "--disputes", str(disputed), str(disputed), "--json")

    assert json.loads(said.out)["trials"] == 2


def test_a_file_that_cannot_be_read_is_one_line(tmp_path):
    said = command("dataset", "lint", "--disputes", str(tmp_path / "none.json"))

    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "none.json: cannot be read" in said.err


@pytest.mark.parametrize(
    "run",
    [
        a_run(a_trial(a_trace(provenance="unrecorded"), {})),
        a_run(a_trial()).model_copy(update={"trials": (), "cases": ()}),
        a_disputed_run(an_answer_to("a", "v2"), held_out=["a"]),
    ],
    ids=["nothing exact", "empty", "all held out"],
)
def test_a_run_with_nothing_to_look_at_lists_nothing_and_says_so(tmp_path, run):
    said = command("dataset", "lint", "--disputes", str(stored(tmp_path, run)))

    assert said.code == 3
    assert said.err.endswith("no trial of a case that may be shown is exact; record the suite, and run it\n")


def test_a_run_from_before_rules_were_kept_is_refused(tmp_path):
    said = command("dataset", "lint", "--disputes", str(stored(tmp_path, a_run(a_trial()))))

    assert (said.code, "stored before routes were read rule by rule" in said.err) == (3, True)


def test_no_heavy_library_is_needed(disputed):
    code = (
        "import sys; from evals.cli.main import main; main(sys.argv[1:]); "
        "print(sorted({'langgraph', 'chromadb', 'pandas'} & sys.modules.keys()))"
    )
    arguments = [sys.executable, "-c", code, "dataset", "lint", "--disputes", str(disputed)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)

    assert done.stdout.endswith("\n[]\n")
