"""What all parts begin with: a checkout that is recorded, blessed and green."""

import shutil
from pathlib import Path

from tests.builders.checkout import a_checkout, evals
from tests.builders.llm_server import an_llm_server

RUN = "reports/latest/run.json"


def green(folder: Path) -> Path:
    """The checkout, made in the folder."""
    checkout = a_checkout(folder / "green" / "checkout")
    with an_llm_server() as llm:
        for words in (
            ("record", "tiny.yaml", "--base-url", llm.base_url),
            ("bless", "tiny.yaml"),
            ("run", "tiny.yaml"),
        ):
            said = evals(checkout, *words)
            if said.code:
                raise RuntimeError(f"evals {words[0]} ended with {said.code}: {said.err}")
    return checkout


def copied(checkout: Path, folder: Path) -> Path:
    """A copy to damage; it holds the same."""
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(checkout, folder / "checkout"))
