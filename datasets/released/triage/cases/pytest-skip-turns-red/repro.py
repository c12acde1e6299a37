"""A test that finds out in the middle that it cannot be run here is skipped, wherever in it that is found out."""

import os
import tempfile
from pathlib import Path

import pytest

TESTS = """
import warnings
import pytest

def connect():
    pytest.skip("no server here")
    warnings.warn("plain text connection", UserWarning)

def test_warns_of_plain_text():
    with pytest.warns(UserWarning):
        connect()
"""


class Outcomes:
    def __init__(self) -> None:
        self.found: list[str] = []

    def pytest_runtest_logreport(self, report) -> None:  # type: ignore[no-untyped-def]
        if report.when == "call":
            self.found.append(report.outcome)


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "pytest.ini").write_text("[pytest]\n")
    Path(folder, "test_server.py").write_text(TESTS)
    os.chdir(folder)
    outcomes = Outcomes()
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no"], plugins=[outcomes])
    os.chdir("/")

assert outcomes.found == ["skipped"], outcomes.found
