"""One more module-wide setting on a handful of tests is one more column, not twice the work of putting them in order."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

TESTS = """
import pytest

SETTINGS = {settings}

def with_settings(test):
    for name in SETTINGS:
        test = pytest.mark.parametrize(name, ["default"], scope="module")(test)
    return test

@with_settings
@pytest.mark.parametrize("invoice", range(4))
def test_invoice(invoice, {names}):
    pass
"""


def questions(count: int) -> int:
    """How often collecting four tests with `count` settings asks for the hash of a test."""
    asked = 0

    def profile(frame: object, event: str, _: object) -> None:
        nonlocal asked
        asked += event == "call" and frame.f_code.co_name == "__hash__"  # type: ignore[attr-defined]

    names = [f"setting_{number}" for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pytest.ini").write_text("[pytest]\n")
        path = Path(folder, f"test_invoices_{count}.py")
        path.write_text(TESTS.format(settings=names, names=", ".join(names)))
        os.chdir(folder)
        sys.setprofile(profile)
        try:
            code = pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", str(path)])
        finally:
            sys.setprofile(None)
            os.chdir("/")
    assert code == 0, code
    return asked


few, more = questions(4), questions(8)
assert more < 4 * few, f"{few} look-ups with 4 settings, {more} with 8"
