"""What a subclass says about warnings is said after what its base class says."""

import os
import tempfile
from pathlib import Path

import pytest

os.chdir(tempfile.mkdtemp())
Path("test_ledger.py").write_text("""
import warnings
import pytest

@pytest.mark.filterwarnings("error::DeprecationWarning")
class Common:
    def test_books(self):
        warnings.warn("old ledger", DeprecationWarning)

@pytest.mark.filterwarnings("ignore:old ledger:DeprecationWarning")
class TestOldLedger(Common):
    pass
""")
assert pytest.main(["-q", "-p", "no:cacheprovider", "test_ledger.py"]) == 0
