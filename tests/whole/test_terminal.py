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
    job, terminal = at_a_terminal(*words, command="evals", folder=folder)
    seen = read_all(terminal).decode().rpartition(ERASED)[2]  # the bar is erased before the result is printed
    lines = [line.rstrip() for line in COLOURS.sub("", seen).replace("\r", "").split("\n")]
    return lines[: -1 if not lines[-1] else None], job.wait(300)


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    """The shipped suite."""
    return shown(REPOSITORY, "run", "prompts", "--out", str(tmp_path_factory.mktemp("report")))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Two prompts of the suite, of which the second is better."""
    out = str(tmp_path_factory.mktemp("report"))
    return shown(REPOSITORY, "compare", "v3", "v6", "--out", out), shown(
        REPOSITORY, "compare", "v3", "v6", "--verbose", "--out", out
    )


def test_a_run_takes_at_most_25_lines_of_80_columns_and_ends_with_its_exit_code(prompts):
    lines, code = prompts

    assert len(lines) <= 25
    assert max(map(len, lines)) <= COLUMNS
    assert [line for line in lines if "exit code" in line] == [lines[-1]]
    assert lines[-1].startswith(f"exit code {code} (")


def test_the_verdict_is_first_and_its_sentence_broken_between_words(compared):
    (lines, code), _ = compared
    sentence = " ".join(lines[: lines.index("")])

    assert lines[0].startswith("v6 is better than v3 over 80 cases; route.pass")
    assert re.search(r"; smallest detectable drop: \d+ points \(route.pass\)\.$", sentence)
    assert lines[-1] == f"exit code {code} (not worse)"


def test_candidate_and_reference_are_compared_metric_by_metric(compared):
    (lines, _), _ = compared
    (row,) = [line for line in lines if line.startswith("route.pass ")]

    assert row.split() == ["route.pass", "+12", "+4", "to", "+20", "0", "10", "improvement"]


def test_verbose_adds_costs_and_violated_constraints_in_80_columns(compared):
    (short, _), (lines, _) = compared
    added = [line for line in lines if line not in short]

    assert any(line.startswith("What it costs") for line in added)
    assert any(line.startswith("must:web_search (hard 2) ") for line in added)
    assert max(map(len, lines)) <= COLUMNS


def test_plain_words_only(prompts, compared):
    for lines, _ in (prompts, *compared):
        assert OLD_WORDS.findall("\n".join(lines)) == []


def test_a_run_that_cannot_be_judged_names_the_command_that_records_it(checkout):
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text() + "Be brief.\n")

    lines, code = shown(checkout, "run", "tiny.yaml", "--jobs", "1")

    assert code == 3
    assert lines[0].startswith("Cannot judge new")
    assert "make record SUITE=tiny.yaml" in " ".join(lines)
    assert len(lines) <= 25
    assert max(map(len, lines)) <= COLUMNS
    assert lines[-1] == "exit code 3 (cannot judge)"


def test_a_plan_is_broken_between_words_and_its_command_is_whole(checkout):
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text() + "Be brief.\n")

    lines, code = shown(checkout, "plan", "tiny.yaml")

    assert code == 3
    assert max(map(len, lines)) <= COLUMNS
    assert lines[-2:] == ["Record them with:", '  make record SUITE=tiny.yaml ARGS="--variant new"']
