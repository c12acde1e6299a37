"""A repository for blessings, and its history in one word."""

from pathlib import Path

import pytest

from evals.cli.history_command import suite_history as history
from tests.builders.blessed import a_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "checkout")


@pytest.fixture
def told(folder: Path):
    """The history of a suite as it is now."""
    return lambda suite="prompts": history(suite, folder)
