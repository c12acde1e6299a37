"""A name in a neighbouring test module can be patched by its dotted path."""

import os
import tempfile
from pathlib import Path

import pytest

os.chdir(tempfile.mkdtemp())
Path("checks/billing").mkdir(parents=True)
Path("checks/billing/test_rates.py").write_text("RATE = 19\n\n\ndef test_rate():\n    assert RATE == 19\n")
Path("checks/billing/test_totals.py").write_text("""
import sys

def test_total(monkeypatch):
    monkeypatch.setattr("checks.billing.test_rates.RATE", 7)
    assert sys.modules["checks.billing.test_rates"].RATE == 7
""")
Path("pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
assert pytest.main(["-q", "-p", "no:cacheprovider", "checks"]) == 0
