"""`docs/metrics.md`, the scorers and the measures say the same."""

import re
from pathlib import Path

import pytest

from evals.comparison.assemble_run import measures
from evals.scoring.registry import scorers

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| `[a-z_]+\.[a-z_0-9]+` \|", line)
]


@pytest.mark.parametrize("subject", scorers(), ids=lambda subject: subject.name)
def test_a_scorer_stands_in_the_page_word_for_word(subject):
    (row,) = [row for row in ROWS if row[0] == f"`{subject.name}`"]

    scale = "0 to 1" if subject.unit == "fraction" else "0 upwards"
    assert row[1:] == [subject.unit, scale, subject.better, subject.definition]


RANGES = {"fraction": "0 to 1", "kappa": "-1 to 1", "difference": "-1 to 1"}


@pytest.mark.parametrize("subject", [measuring.info for measuring in measures()], ids=lambda info: info.name)
def test_a_measure_stands_in_the_page_word_for_word(subject):
    (row,) = [row for row in ROWS if row[0] == f"`{subject.name}`"]

    unit = f"{subject.unit} over {subject.counted}"
    assert row[1:] == [unit, RANGES[subject.unit], subject.better, subject.definition]


def test_the_page_names_nothing_that_is_gone():
    known = {subject.name for subject in scorers()} | {measuring.info.name for measuring in measures()}

    assert {row[0].strip("`") for row in ROWS} == known


def test_no_scorer_and_measure_share_a_name():
    assert not {subject.name for subject in scorers()} & {measuring.info.name for measuring in measures()}


def test_the_page_names_the_primary_metrics():
    (line,) = [line for line in PAGE.splitlines() if line.startswith("**Primary metrics**")]

    assert set(re.findall(r"`([a-z_.]+)`", line)) == {subject.name for subject in scorers() if subject.primary}
