"""Shell completion, as a shell asks for it."""

import subprocess
import sys

import pytest

from tests.builders.checkout import REPOSITORY


def completed(line):
    """What bash is offered for the last word of the line."""
    words = line.split(" ")
    asked = {"_EVALS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    program = "import sys; sys.argv[0] = 'evals'; from evals.entry_point import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, env=asked, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"), [("evals sel", ["selftest"]), ("evals run prompts --verb", ["--verbose"])]
)
def test_commands_and_their_options_are_completed(line, offered):
    assert completed(line) == offered
