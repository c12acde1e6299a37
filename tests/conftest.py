"""What holds for every test: random examples are the same in every run, so that a green is no luck and a red can be had
again; and nothing is left behind in the checkout, nor any key that a command held.
"""

import gc
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import typer.main
from hypothesis import HealthCheck, settings

from evals.shared.command_lifecycle import SELDOM
from evals.shared.secrets.rule import release
from tests.builders.chromium import close_chromium
from tests.builders.read_once import read_once

ROOT = Path(__file__).parents[1]
MEMORY = Path("/dev/shm")
"""A file system in memory: no test waits for a disk, which takes longer to write a file safely than most tests take."""
ROOM = 2_000_000_000
TRIAGE_LOG = logging.getLogger("triage")

UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
"""Hypothesis measures wall-clock time, which says nothing on a machine that is busy with something else."""
settings.register_profile("seeded", derandomize=True, max_examples=50, **UNHURRIED)
settings.register_profile("explore", derandomize=False, max_examples=500, **UNHURRIED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "seeded"))


typer.main.get_command = cache(typer.main.get_command)
"""Typer builds every command anew for each call: a twentieth of a second, a thousand times over in these tests."""
read_once()


def _fits(folder: Path) -> bool:
    """Whether temporary folders can be made there, with room in them and programs that may be started."""
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < ROOM:
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and _fits(MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

gc.disable()


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay: no collection need walk through them, now or ever again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(*SELDOM)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """One browser for all browser tests in a row, and none beside other tests."""
    if item.get_closest_marker("browser") is None:
        close_chromium()


def pytest_sessionfinish() -> None:
    """Also after the last test."""
    close_chromium()


@pytest.fixture(autouse=True)
def keys_are_forgotten() -> Iterator[None]:
    """A live job holds the keys of its environment as secrets; the next test has others."""
    yield
    release()


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """A test writes below its temporary folder; what appears beside `pyproject.toml` fails it, or its neighbour."""
    before = _seen()
    yield
    release()
    left = _seen() - before
    assert not left, f"left behind in the checkout: {', '.join(sorted(left))}"


@pytest.fixture(autouse=True)
def no_log_handler_left() -> Iterator[None]:
    """`triage --verbose` writes its log to the stderr of the moment, which is closed when its test is over: the next
    test would read that this failed."""
    yield
    if TRIAGE_LOG.handlers:
        TRIAGE_LOG.handlers.clear()
        TRIAGE_LOG.setLevel(logging.NOTSET)
        TRIAGE_LOG.propagate = True


def _seen() -> set[str]:
    """Also when the checkout's own report was last changed or moved: its owner would miss it."""
    names = {name for name in os.listdir(ROOT) if not name.startswith(".")}  # noqa: PTH208 - fifteen thousand times
    for folder in ("reports", "reports/latest"):
        with suppress(FileNotFoundError):
            names.add(f"{folder} changed at {os.stat(ROOT / folder).st_mtime_ns}")  # noqa: PTH116 - as above
    return names
