"""Collecting tests opens nothing: a property of a test class is evaluated by the tests that read it, and only then."""

import os
import tempfile
from pathlib import Path

import pytest

TESTS = """
from pathlib import Path

class TestLedger:
    @property
    def session(self):
        with Path("opened.log").open("a") as log:
            log.write("opened\\n")
        return object()

    def test_reads(self):
        assert self.session is not None

    def test_needs_nothing(self):
        pass
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "pytest.ini").write_text("[pytest]\n")
    Path(folder, "test_ledger.py").write_text(TESTS)
    os.chdir(folder)
    code = pytest.main(["-q", "-p", "no:cacheprovider", "test_ledger.py"])
    opened = Path("opened.log").read_text().splitlines()
    os.chdir("/")

assert code == 0, code
assert len(opened) == 1, f"one test of two opens a session, opened were {len(opened)}"
