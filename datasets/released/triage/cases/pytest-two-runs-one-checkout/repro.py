"""Two runs begin in one folder at the same moment; the one that is second to make the cache folder says nothing."""

import os
import tempfile
from pathlib import Path

import pytest

REALLY = os.rename
ENDED: list[list[str]] = []


class Warned:
    """What the run had to say besides its tests."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def pytest_warning_recorded(self, warning_message: object) -> None:
        self.said.append(str(warning_message.message))  # type: ignore[attr-defined]


def second(source: str, target: str, *rest: object, **named: object) -> None:
    """The other run has just put its folder there."""
    if Path(target).name == ".pytest_cache" and not os.path.exists(target):
        os.mkdir(target)
        Path(target, "README.md").write_text("of the other run")
    REALLY(source, target, *rest, **named)  # type: ignore[arg-type]


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "pytest.ini").write_text("[pytest]\n")
    Path(folder, "test_one.py").write_text("def test_one():\n    pass\n")
    os.chdir(folder)
    os.rename = second
    watched = Warned()
    try:
        code = pytest.main(["-q", "test_one.py"], plugins=[watched])
    finally:
        os.rename = REALLY
    kept = Path(folder, ".pytest_cache", "v", "cache", "nodeids").is_file()
    os.chdir("/")

assert code == 0, code
assert not watched.said, watched.said
assert kept, "the tests of this run were not remembered"
