"""What holds for every test: random examples are the same in every run, so that a green is no luck and a red can be had
again; and nothing is left behind in the checkout.
"""

import gc
import os
import ssl
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
from hypothesis import settings

from triage.start import SELDOM

ROOT = Path(__file__).parents[1]

settings.register_profile("seeded", derandomize=True)
settings.register_profile("explore", derandomize=False, max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "seeded"))


typer.main.get_command = cache(typer.main.get_command)
"""Typer builds every command anew for each call: a twentieth of a second, a thousand times over in these tests."""
ssl.create_default_context = cache(ssl.create_default_context)
"""Each client reads all certificates of the world: 30 ms, to speak to loopback without them."""

gc.disable()


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay: no collection need walk through them, now or ever again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(*SELDOM)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """A test writes below its temporary folder; what appears beside `pyproject.toml` fails it, or its neighbour."""
    before = _seen()
    yield
    left = _seen() - before
    assert not left, f"left behind in the checkout: {', '.join(sorted(left))}"


def _seen() -> set[str]:
    return {name for name in os.listdir(ROOT) if not name.startswith(".")}  # noqa: PTH208 - fifteen thousand times
