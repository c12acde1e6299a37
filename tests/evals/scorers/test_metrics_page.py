"""`docs/metrics.md` and the scorers say the same."""

import re
from pathlib import Path

import pytest

from evals.scorers import SCORERS

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| `[a-z_]+\.[a-z_0-9]+` \|", line)
]


@pytest.mark.parametrize("subject", SCORERS, ids=lambda subject: subject.name)
def test_a_scorer_stands_in_the_page_word_for_word(subject):
    (row,) = [row for row in ROWS if row[0] == f"`{subject.name}`"]

    ranges = {"fraction": "0 to 1", "count": "0 upwards", "tokens": "0 upwards", "seconds": "0 upwards"}
    assert row[1:] == [subject.unit, ranges[subject.unit], subject.better, subject.definition]


def test_the_page_names_no_scorer_that_is_gone():
    assert {row[0].strip("`") for row in ROWS} == {subject.name for subject in SCORERS}


def test_the_page_names_the_primary_endpoints():
    (line,) = [line for line in PAGE.splitlines() if line.startswith("**Primary endpoints**")]

    assert set(re.findall(r"`([a-z_.]+)`", line)) == {subject.name for subject in SCORERS if subject.primary}
