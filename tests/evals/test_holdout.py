"""The holdout: looked at on request only, and every look is counted."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from evals.errors import DatasetError
from evals.pipeline.load_suite import open_holdout, read_openings

TODAY = date(2026, 11, 22)


def test_two_openings_at_once_count_as_two(tmp_path):
    path = tmp_path / "holdout.yaml"
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda n: open_holdout(path, "prompts", f"look {n}", TODAY), range(8)))

    assert (sorted(counts), len(read_openings(path))) == (list(range(1, 9)), 8)


def test_a_count_that_cannot_be_read_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "holdout.yaml"
    path.write_text("openings:\n  - {day: 3}\n", encoding="utf-8")

    with pytest.raises(DatasetError, match=r"holdout\.yaml:2: "):
        open_holdout(path, "prompts", "why not", TODAY)
