"""A desk to run `triage` at: an issue and a checkout in a folder, no settings in the environment, a server to ask."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders.llm_server import Answer, LlmServer, an_llm_server
from triage.cli import main

Run = Callable[..., int]
NEW = ("--issue", "issue.md", "--job-id", "one")
AGAIN = ("--resume", "--job-id", "one")


def a_desk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with an issue and a checkout; it is where commands run."""
    for name in [name for name in os.environ if name.startswith(("TRIAGE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TRIAGE_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("TRIAGE_RETRY_JITTER", "false")  # no waits between attempts
    monkeypatch.chdir(folder)
    (folder / "issue.md").write_text("# Cart total is wrong\n\nAdding two items charges for one.\n")
    (folder / "shop").mkdir()
    (folder / "shop" / "cart.py").write_text("def add(cart, item):\n    cart[item] = 1\n")
    return folder


@contextmanager
def triage_at(monkeypatch: pytest.MonkeyPatch, answer: Answer | None = None) -> Iterator[tuple[Run, LlmServer]]:
    """`triage` as a function of its arguments (and of what is `typed`), and the server it asks, searches included."""
    with an_llm_server(answer) as llm:
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url)
        monkeypatch.setenv("TRIAGE_TAVILY_BASE_URL", llm.search_url)

        def run(*arguments: str, typed: str = "") -> int:
            monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
            return main(list(arguments))

        yield run, llm
