"""What `evals run` shows at a real terminal of 80 columns."""

import re

import pytest

from tests.builders.checkout import REPOSITORY
from tests.builders.pseudo_terminal import COLUMNS, at_a_terminal, read_all

pytestmark = pytest.mark.slow

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ERASED = "\x1b[2K"
OLD_WORDS = re.compile(r"on tape|the tape|held against|\bvetoe?s?\b|\bbroke\b|no model at all|endpoint")


def shown(folder, *words):
    """The lines on the screen when the command has ended, and its exit code."""
    job, terminal = at_a_terminal(*words, command="evals", folder=folder, PYTHONPATH=str(REPOSITORY))
    seen = read_all(terminal).decode().rpartition(ERASED)[2]  # the bar is erased before the result is printed
    lines = [line.rstrip() for line in COLOURS.sub("", seen).replace("\r", "").split("\n")]
    return lines[: -1 if not lines[-1] else None], job.wait(300)


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    """The shipped suite."""
    return shown(REPOSITORY, "run", "prompts", "--out", str(tmp_path_factory.mktemp("report")))


def test_the_verdict_is_first_and_the_exit_code_last(prompts):
    lines, code = prompts

    assert lines[0].startswith("v5 is better than v3 over 80 cases")
    assert lines[-1] == f"exit code {code} (not worse)"
    assert sum("exit code" in line for line in lines) == 1


def test_a_run_takes_at_most_25_lines_of_80_columns(prompts):
    lines, _ = prompts

    assert len(lines) <= 25
    assert max(map(len, lines)) <= COLUMNS


def test_text_is_broken_between_words(prompts):
    sentence = " ".join(prompts[0][:5])

    assert "smallest detectable drop: " in sentence
    assert "decision.score: no significant change;" in sentence


def test_candidate_and_reference_are_compared_metric_by_metric(prompts):
    lines, _ = prompts
    (row,) = [line for line in lines if line.startswith("route.pass ")]

    assert row.split() == ["route.pass", "+9", "+2", "to", "+15", "0", "7", "improvement"]


def test_plain_words_only(prompts):
    assert OLD_WORDS.findall("\n".join(prompts[0])) == []


def test_verbose_shows_costs_and_constraints_in_80_columns(tmp_path):
    lines, _ = shown(REPOSITORY, "run", "prompts", "--verbose", "--out", str(tmp_path))
    text = "\n".join(lines)

    assert "What it costs" in text
    assert "must:web_search" in text
    assert max(map(len, lines)) <= COLUMNS
    assert OLD_WORDS.findall(text) == []
    assert lines[-1] == "exit code 0 (not worse)"


def test_a_run_that_cannot_be_judged_names_the_command_that_records_it(checkout):
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text() + "Be brief.\n")

    lines, code = shown(checkout, "run", "tiny.yaml", "--jobs", "1")

    assert code == 3
    assert lines[0].startswith("Cannot judge new")
    assert "make record SUITE=tiny.yaml" in " ".join(lines)
    print("\n".join(lines))
    assert len(lines) <= 25
    assert max(map(len, lines)) <= COLUMNS
    assert lines[-1] == "exit code 3 (cannot judge)"
