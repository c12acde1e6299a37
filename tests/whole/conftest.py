"""One recorded and blessed checkout for all whole-run tests; each test gets a copy of its own to damage."""

import shutil

import pytest

from tests.builders.checkout import a_checkout, evals
from tests.builders.llm_server import an_llm_server


@pytest.fixture(scope="session")
def story(tmp_path_factory):
    """From nothing to green: (checkout, what each command said, requests the server saw after each)."""
    checkout = a_checkout(tmp_path_factory.mktemp("whole") / "checkout")
    with an_llm_server() as llm:
        steps, asked = {}, {}
        for name, words in {
            "recorded": ("record", "tiny.yaml", "--base-url", llm.base_url),
            "recorded again": ("record", "tiny.yaml", "--base-url", llm.base_url),
            "first run": ("run", "tiny.yaml"),
            "blessed": ("bless", "tiny.yaml"),
            "second run": ("run", "tiny.yaml"),
        }.items():
            steps[name] = evals(checkout, *words)
            asked[name] = len(llm.asked)
    return checkout, steps, asked


@pytest.fixture
def checkout(story, tmp_path):
    """A copy: recorded, blessed and green, its trials cached."""
    return shutil.copytree(story[0], tmp_path / "checkout")
