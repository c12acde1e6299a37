"""Rounds of the suite in random order: a failure is exit code 1 and shown, an interrupted series goes on."""

import os
import signal
import subprocess
import sys
from contextlib import nullcontext

import pytest

from tests.builders.waiting import until
from tests.repeat import ROOT, busy, command, main

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


@pytest.mark.slow
def test_a_test_that_fails_in_one_round_is_1_and_said_with_how_to_see_it_again(tmp_path, monkeypatch, capsys):
    """One fails by the seed of Python's hashes, the other without its neighbour."""
    (tmp_path / "test_lucky.py").write_text(LUCKY)
    (tmp_path / "test_neighbours.py").write_text(ORDER_DEPENDENT)
    (tmp_path / "test_broken.py").write_text("import os\nif os.environ['PYTHONHASHSEED'] == '11': os._exit(9)\n")
    loads = []
    monkeypatch.setattr("tests.repeat.busy", lambda processes: nullcontext(loads.append(processes)))
    monkeypatch.setattr("tests.repeat.LOGS", tmp_path / "logs")

    assert main("3", "--seed", "9", "-n", "0", str(tmp_path)) == 1
    assert loads == [4, 0, 4]
    out = capsys.readouterr().out
    assert "test_lucky.py::test_luck: failed in 1 of 3 rounds" in out
    assert "test_neighbours.py::test_second: failed in " in out
    assert "pytest ended with exit code 9: failed in 1 of 3 rounds" in out
    assert "PYTHONHASHSEED=10 " in next(line for line in out.splitlines() if line.startswith("seed 10: env TZ="))
    assert "bad luck" in (tmp_path / "logs" / "seed-10.txt").read_text()


@pytest.mark.slow
def test_an_interrupted_series_says_how_to_go_on(tmp_path):
    hanging = "import os, time\n\ndef test_it(): time.sleep(600 * (os.environ['PYTHONHASHSEED'] == '8'))\n"
    (tmp_path / "test_it.py").write_text(hanging)
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import sys; "
    listening += "import tests.repeat as it; it.BUSY = 1; "  # also where Ctrl-C is ignored
    listening += "sys.exit(it.main(*sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", listening, "2", "--seed", "7", "-n", "0", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: process.poll() is not None or "seed 8" in process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=300)

    assert process.returncode == 130
    assert err == (
        f"repeat: interrupted after 1 rounds; go on with: make test REPEAT=1 PYTEST_ARGS='--seed 8 -n 0 {tmp_path}'\n"
    )


def test_all_tests_are_shuffled_in_every_fourth_round():
    buckets = [next(word for word in command(seed, []) if "bucket" in word) for seed in range(4)]

    assert [bucket.partition("=")[2] for bucket in buckets] == ["module", "module", "global", "module"]


def test_the_load_is_there_and_is_gone_after_it():
    with busy(2) as load:
        assert [process.poll() for process in load] == [None, None]

    assert None not in [process.returncode for process in load]


@pytest.mark.parametrize("rounds", ["0", "many"])
def test_a_number_of_rounds_that_is_none_is_2_and_one_line(rounds, capsys):
    with pytest.raises(SystemExit) as ended:
        main(rounds)

    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") <= 3
