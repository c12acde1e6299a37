"""What all parts begin with: a checkout that is recorded, blessed and green."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.builders.checkout import a_checkout, evals
from tests.builders.llm_server import an_llm_server

RUN = "reports/latest/run.json"


def green(folder: Path) -> Path:
    """A checkout of one's own in the folder."""
    return copied(Path(_made().name), folder / "green")


@cache
def _made() -> "TemporaryDirectory[str]":
    """The checkout that others are copies of; it goes with the process."""
    scratch = TemporaryDirectory()
    checkout = a_checkout(Path(scratch.name))
    with an_llm_server() as llm:
        for words in (
            ("record", "tiny.yaml", "--base-url", llm.base_url),
            ("bless", "tiny.yaml"),
            ("run", "tiny.yaml"),
        ):
            said = evals(checkout, *words)
            if said.code:
                raise RuntimeError(f"evals {words[0]} ended with {said.code}: {said.err}")
    return scratch


def copied(checkout: Path, folder: Path) -> Path:
    """A copy to damage; it holds the same."""
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(checkout, folder / "checkout"))
