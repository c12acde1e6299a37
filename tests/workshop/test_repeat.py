"""Rounds of the suite in random order: each result is kept at once, an interrupted series goes on, a failure is 1."""

import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.builders.git import committed, git
from tests.builders.waiting import until
from tests.repeat.__main__ import main
from tests.repeat.load import busy
from tests.repeat.results import Results, code_digest
from tests.repeat.rounds import ROOT, Plan

SOUND = "def test_a(): pass\n\n\ndef test_b(): pass\n"
ORDER_DEPENDENT = """
import sys
seen = []

def test_first(): seen.append(1)

def test_second(): assert seen, "its neighbour has not run"
"""
LUCKY = """
import os

def test_luck(): assert os.environ["PYTHONHASHSEED"] != "10", "bad luck"
"""


def repeat(folder: Path, rounds: int, monkeypatch, seed: int = 7) -> tuple[int, list[int]]:
    """The exit code, and how many busy processes each round was given; there is none here."""
    loads = []
    monkeypatch.setattr("tests.repeat.__main__.busy", lambda processes: nullcontext(loads.append(processes)))
    return main(*words(folder, rounds, seed)), loads


def words(folder: Path, rounds: int, seed: int = 7) -> list[str]:
    return [str(rounds), "--seed", str(seed), "--results", str(folder / "results.jsonl"), "-n", "0", str(folder)]


def stored(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()[1:]]


@pytest.mark.slow
def test_a_test_that_fails_in_one_round_is_1_and_said_with_how_to_see_it_again(tmp_path, monkeypatch, capsys):
    """One fails by the seed of Python's hashes, the other without its neighbour."""
    (tmp_path / "test_lucky.py").write_text(LUCKY)
    (tmp_path / "test_neighbours.py").write_text(ORDER_DEPENDENT)

    assert repeat(tmp_path, 2, monkeypatch, seed=9) == (1, [0, 4])
    out = capsys.readouterr().out
    assert "| 1 | 9 | seed 9, files shuffled, " in out
    assert "| 2 | 10 | seed 10, files shuffled, " in out
    assert [found["tests"] for found in stored(tmp_path)] == [3, 3]
    assert [found["how"].rpartition(", ")[2] for found in stored(tmp_path)] == ["alone", "loaded"]
    assert "test_lucky::test_luck: failed in 1 of 2 rounds" in out
    assert "test_neighbours::test_second: failed in 1 of 2 rounds" in out
    assert "bad luck" in str(stored(tmp_path)[1]["failures"])
    again = [line for line in out.splitlines() if line.startswith("  again: ")]
    assert "PYTHONHASHSEED=10 .venv/bin/python -m pytest" in again[-1]
    assert "bad luck" in next(tmp_path.glob("round-2-seed-10.txt")).read_text()


@pytest.mark.slow
def test_an_interrupted_series_goes_on_with_the_next_round(tmp_path, monkeypatch, capsys):
    hanging = "import os, time\n\ndef test_it(): time.sleep(600 * (os.environ['PYTHONHASHSEED'] == '8'))\n"
    (tmp_path / "test_it.py").write_text(hanging)
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import sys; "
    listening += "import tests.repeat.__main__ as it; it.BUSY = 1; "  # also where Ctrl-C is ignored
    listening += "sys.exit(it.main(*sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", listening, *words(tmp_path, 2)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: process.poll() is not None or "round 2" in process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "repeat: interrupted after 1 rounds; the same command goes on\n")

    (tmp_path / "test_it.py").write_text(SOUND)
    assert repeat(tmp_path, 2, monkeypatch) == (0, [4])
    out = capsys.readouterr().out
    assert "going on after 1 rounds" in out
    assert "round 1:" not in out
    assert [found["seed"] for found in stored(tmp_path)] == [7, 8]


@pytest.mark.slow
def test_a_pytest_that_does_not_come_to_its_end_is_a_failure(tmp_path, monkeypatch):
    (tmp_path / "test_broken.py").write_text("import os\nos._exit(9)\n")

    assert repeat(tmp_path, 1, monkeypatch)[0] == 1
    assert stored(tmp_path)[0]["failures"][0]["test"] == "pytest"


def test_results_of_other_code_are_not_gone_on_with(tmp_path, monkeypatch):
    first = Results.opened(tmp_path / "results.jsonl", 7, [])
    monkeypatch.setattr("tests.repeat.results.code_digest", lambda: "other code")

    assert Results.opened(first.path, None, []).seed != 7


def test_a_line_that_was_cut_short_is_a_round_that_was_not_run(tmp_path):
    first = Results.opened(tmp_path / "results.jsonl", 7, [])
    with first.path.open("a") as file:
        file.write('{"number": 1, "se')

    assert Results.opened(first.path, None, []).done == []


def test_changed_and_new_files_are_other_code(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    git(tmp_path, "init", "--quiet")
    committed(tmp_path, "start")
    digests = [code_digest(tmp_path)]
    (tmp_path / "a.py").write_text("a = 2\n")
    digests.append(code_digest(tmp_path))
    (tmp_path / "b.py").write_text("b = 1\n")
    digests.append(code_digest(tmp_path))

    assert len(set(digests)) == 3


def test_every_second_round_has_load_and_all_tests_are_shuffled_now_and_then():
    plans = [Plan.of(number, 100) for number in range(4)]

    assert [plan.is_loaded for plan in plans] == [False, True, False, True]
    assert [plan.bucket for plan in plans] == ["module", "module", "global", "module"]
    assert [plan.seed for plan in plans] == [100, 101, 102, 103]


def test_the_load_is_there_and_is_gone_after_it():
    with busy(2) as load:
        assert [process.poll() for process in load] == [None, None]

    assert None not in [process.returncode for process in load]


@pytest.mark.parametrize("rounds", ["0", "-1", "many"])
def test_a_number_of_rounds_that_is_none_is_2_and_one_line(rounds, capsys):
    with pytest.raises(SystemExit) as ended:
        main(rounds)

    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") <= 3
