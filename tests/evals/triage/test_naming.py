"""Which files and functions a report names."""

import pytest

from evals.triage.report_scorers import ranked_files, ranked_functions
from tests.builders.trace import a_report, a_trace

REPOSITORY = ("pkg/core.py", "pkg/io.py", "Makefile")


def naming(location, files=()):
    return a_trace(report=a_report(location, files), repository_files=REPOSITORY)


@pytest.mark.parametrize(
    "text",
    [
        "pkg/core.py",
        "./pkg/core.py",
        "../pkg/core.py",
        "pkg/core.py:42",
        "pkg/core.py:42:7",
        "pkg/core.py (line 42)",
        "`pkg/core.py`",
        "pkg\\core.py",
        "repo/pkg/core.py",
        "/srv/app/pkg/core.py",
        "C:\\code\\pkg\\core.py",
        "pkg/core.py::Worker.run",
        "Worker.run in pkg/core.py",
        'File "pkg/core.py", line 42, in run',
        "It is in pkg/core.py.",
        "[pkg/core.py](pkg/core.py)",
    ],
)
def test_a_path_is_found_however_it_is_written(text):
    assert ranked_files(naming(text)) == ("pkg/core.py",)


@pytest.mark.parametrize(
    "text",
    [None, "", "not identified", "None", "N/A", "pkg.core.Worker", "pkg/core.pyc", "https://example.com/a/pkg/core.py"],
)
def test_text_without_a_path_names_nothing(text):
    assert ranked_files(naming(text)) == ()


def test_the_location_comes_first_and_nothing_twice():
    trace = naming("pkg/io.py:3", ["pkg/core.py", "./pkg/io.py", "none", "Makefile"])

    assert ranked_files(trace) == ("pkg/io.py", "pkg/core.py", "Makefile")


def test_a_file_outside_the_repository_is_still_named():
    """Otherwise an invented file would count as naming none."""
    assert ranked_files(naming("lib/made_up.py")) == ("lib/made_up.py",)


@pytest.mark.parametrize(
    "text",
    [
        "pkg/core.py::Worker",
        "pkg/core.py::Worker.run",
        "pkg/core.py:Worker.run",
        "pkg/core.py:12:Worker",
        "`pkg/core.py` in `Worker.run`",
        "pkg/core.py in Worker.run()",
        "pkg/core.py in function Worker",
        "pkg/core.py:12 in Worker",
        'File "pkg/core.py", line 12, in Worker',
    ],
)
def test_a_function_is_found_however_it_is_written(text):
    assert ranked_functions(naming(text)) == ("pkg/core.py::Worker",)


@pytest.mark.parametrize("text", ["pkg/core.py", "pkg/core.py:12", "pkg/core.py in the loop", "run", "pkg/core.py#L10"])
def test_a_file_alone_names_no_function(text):
    assert ranked_functions(naming(text)) == ()
