"""The holdout: looked at on request only, and every look is counted."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from evals.errors import ConfigurationError, DatasetError
from evals.holdout import open_holdout, read_openings

TODAY = date(2026, 11, 22)


def test_a_dataset_without_the_file_was_never_opened(tmp_path):
    assert read_openings(tmp_path / "holdout.yaml") == ()


def test_an_opening_is_kept_with_its_day_suite_and_reason(tmp_path):
    path = tmp_path / "holdout.yaml"
    open_holdout(path, "prompts", "release 2", TODAY)

    [opening] = read_openings(path)

    assert (opening.day, opening.suite, opening.why) == ("2026-11-22", "prompts", "release 2")


def test_two_openings_at_once_count_as_two(tmp_path):
    path = tmp_path / "holdout.yaml"
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda n: open_holdout(path, "prompts", f"look {n}", TODAY), range(8)))

    assert (sorted(counts), len(read_openings(path))) == (list(range(1, 9)), 8)


def test_an_opening_without_a_reason_is_refused_and_not_counted(tmp_path):
    path = tmp_path / "holdout.yaml"

    with pytest.raises(ConfigurationError, match="needs a reason"):
        open_holdout(path, "prompts", " ", TODAY)

    assert read_openings(path) == ()


def test_a_count_that_cannot_be_read_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "holdout.yaml"
    path.write_text("openings:\n  - {day: 3}\n", encoding="utf-8")

    with pytest.raises(DatasetError, match=r"holdout\.yaml:2: "):
        open_holdout(path, "prompts", "why not", TODAY)
