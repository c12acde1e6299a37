"""The first and the last moments of the command: Ctrl-C is one line and 130, what cannot be said is no success."""

import os
import signal
import subprocess
import sys
import time

import pytest

from evals.cassettes import manifest
from evals.cassettes.cassette_files import merge_write
from tests.builders.checkout import REPOSITORY, started
from tests.builders.interaction import an_interaction
from tests.builders.shipped import every

ARMED = (
    "import sys, evals.shared.command_lifecycle as c, {package}.entry_point as s; c.Start('x', 'interrupted;').arm()\n"
    "print('armed', flush=True); sys.argv[1:] = {words!r}; s.run()"
)
WORDS = (
    ["plan", "prompts", "--case", "none"],
    ["run", "guards", "--case", "none", "--out", "reports/none"],
    ["cassette", "verify", "none"],
)
"""They import what the command needs, and have nothing to do."""
TRIAGE_WORDS = (["run", "--repo", ".", "--issue", "none"], ["publish", "none"], ["run", "--resume", "--job-id", "none"])

OVER = ("no such case", "no cassette of this case", "no job", "none: ")
"""What a command says that was over before it could be interrupted."""

pytestmark = pytest.mark.slow


MOMENTS = [
    (number, *command)
    for number in range(20)
    for which, command in enumerate([("evals", WORDS), ("triage", TRIAGE_WORDS)])
    if every() or number % 4 == 2 * which
]
"""Every fourth one of each command; all of them under `make test EVERY=1`."""


@pytest.mark.parametrize(("number", "package", "wordings"), MOMENTS)
def test_an_interrupt_at_any_moment_of_the_start_is_one_line_and_130(package, wordings, number, tmp_path):
    """At 20 moments from the first line of our own to about when the command begins."""
    words = wordings[number % len(wordings)]
    process = subprocess.Popen(
        [sys.executable, "-c", ARMED.format(package=package, words=words)],
        cwd=REPOSITORY if package == "evals" else tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    time.sleep(number * 0.04)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)

    over_before = process.returncode == 2 and any(words in said for words in OVER)
    assert over_before or (process.returncode, said.count("\n"), "Traceback" in said) == (130, 1, False), said


def test_an_interrupt_amid_generated_code_does_not_end_the_process_by_its_signal():
    """Python marks an interrupt inside exec, and would kill itself at the end however well it was caught."""
    code = (
        "import sys, signal, evals.entry_point as start; import evals.cli.main as main\n"
        "def amid(_):\n    exec('import signal; signal.raise_signal(signal.SIGINT)')\n"
        "main.app = lambda *_, **__: amid(0)\n"
        "start.run()"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (
        130,
        "evals: interrupted; what was finished is kept, run the same command to go on\n",
    )


@pytest.mark.parametrize(("package", "main"), [("evals", "evals.cli.main"), ("triage", "triage.cli")])
def test_an_interrupt_that_meets_pydantic_is_no_bug_of_ours(package, main):
    """Of what is raised while it serializes, or builds a model in an import, pydantic tells in words only."""
    code = (
        f"import signal, {package}.entry_point as start; import {main} as main\n"
        "from typing import Annotated; from pydantic import PlainSerializer, TypeAdapter\n"
        "met = TypeAdapter(Annotated[int, PlainSerializer(lambda _: signal.raise_signal(signal.SIGINT))])\n"
        "main.app = lambda *_, **__: met.dump_json(1)\n"
        "start.run()"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr.count("interrupted;"), ended.stderr.count("\n")) == (130, 1, 1)


def test_an_interrupt_that_meets_a_destructor_is_not_forgotten():
    code = (
        "import signal, evals.entry_point as start\n"
        "start.START.arm(); signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Dying:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\n"
        "dying = Dying()\ndel dying\nprint('went on')"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, "Traceback" in ended.stderr) == (130, "", False)


def test_what_cannot_be_printed_is_said_and_no_success(tmp_path):
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        ended = subprocess.run(
            [sys.executable, "-m", "evals", "cassette", "verify"],
            cwd=a_tape(tmp_path),
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert ended.returncode == 3
    assert "cannot be written (No space left on device)" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", ["evals cassette verify", "evals --help", "evals run --help", "evals schema", "triage --help"]
)
def test_an_output_that_nobody_reads_any_more_is_a_quiet_end_and_141(words, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", *words.split()],
        cwd=a_tape(tmp_path),
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)

    assert (ended.returncode, ended.stderr) == (141, "")


def test_a_terminal_that_knows_only_ascii_gets_marks_in_place_of_other_characters(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "evals", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stderr, "? 1 worse ?" in ended.stdout) == (0, "", True)


def test_python_that_takes_docstrings_away_is_told_so(tmp_path):
    process = started(tmp_path, "cassette", "verify", PYTHONOPTIMIZE="2")

    assert process.communicate()[1] == (
        "evals: docstrings are definitions here: unset PYTHONOPTIMIZE, or run Python without -OO\n"
    )
    assert process.returncode == 2


def a_tape(folder):
    """The least that can be verified."""
    (folder / "datasets").mkdir()
    merge_write(folder / "cassettes" / "c.yaml", [an_interaction()])
    manifest.write(folder / "cassettes")
    return folder
