"""A test is called in the summary what it is called on the command line, whatever its parameter looks like."""

import os
import tempfile
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.parametrize("path", ["a/../b", "x//y"])
def test_normalised(path):
    assert not path
"""


class Seen:
    def __init__(self) -> None:
        self.ids: list[str] = []

    def pytest_terminal_summary(self, terminalreporter) -> None:  # type: ignore[no-untyped-def]
        config = terminalreporter.config
        self.ids += [config.cwd_relative_nodeid(report.nodeid) for report in terminalreporter.stats["failed"]]


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "pytest.ini").write_text("[pytest]\n")
    Path(folder, "unit").mkdir()
    Path(folder, "unit", "test_paths.py").write_text(TESTS)
    os.chdir(Path(folder, "unit"))
    seen = Seen()
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no"], plugins=[seen])
    os.chdir("/")

assert seen.ids == ["test_paths.py::test_normalised[a/../b]", "test_paths.py::test_normalised[x//y]"], seen.ids
