"""Checkouts in live use: progress where somebody watches, Ctrl-C at any time, nothing embedded twice, a service that
goes on answering."""

import asyncio
import os
import pty
import select
import sqlite3
import subprocess
import sys
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from rich.console import Console

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.endpoint import a_team, a_toolbox
from tests.builders.llm_server import answering
from tests.builders.pseudo_terminal import at_a_terminal, read_until
from tests.builders.repository import HashEmbedder, a_repository
from triage.agent_server import app
from triage.codebase.chunk import chunks_of
from triage.codebase.embed import DIMENSIONS
from triage.codebase.index import CodebaseIndex
from triage.run_in_thread import unwatched
from triage.terminal_screen import Terminal

CHECKOUT = Path(__file__).parents[2]
PIECES = 100
"""Enough to be interrupted in the middle of them."""
CARTS = {
    f"m{n}.py": f"def total_{n}(cart):\n    " + f"cart.add(item_{n}) or cart\n    " * 8 + "\n" for n in range(PIECES)
}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    desk = a_desk(tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))  # commands run as processes of their own start in this folder
    return desk


def a_team_that_searches():
    stops = iter(["investigator", "codebase_search"])
    return answering(lambda _: next(stops, "writer"))


def kept(desk, command="SELECT count(*) FROM vectors", *values):
    """What the cache of vectors answers; by default how many there are."""
    with sqlite3.connect(desk / "cache" / "vectors-1.sqlite") as vectors:
        return vectors.execute(command, values).fetchone()


MARK = np.eye(1, DIMENSIONS, dtype=np.float16).tobytes()
MARKING = "UPDATE vectors SET vector = ?, crc = ?", MARK, zlib.crc32(MARK)
MARKED = "SELECT count(*) FROM vectors WHERE vector = ?", MARK


def test_what_is_searched_is_said_unless_all_is_to_be_quiet(desk, monkeypatch, capsys):
    (desk / "shop" / "rows.csv").write_text("1,2\n")
    with triage_at(monkeypatch, a_team_that_searches()) as (triage, _):
        triage("run", "--repo", "shop", *NEW)
        told = capsys.readouterr().err
        triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", "two", "--quiet")
        quiet = capsys.readouterr().err

    assert "shop: 1 files; left out: 1 not code; 1 chunks" in told
    assert "chunks" not in quiet


@pytest.mark.parametrize(
    ("opened", "quiet", "seen"), [(pty.openpty, False, True), (pty.openpty, True, False), (os.pipe, False, False)]
)
def test_a_bar_is_drawn_where_somebody_watches(opened, quiet, seen, monkeypatch):
    """Some build services force colours into their logs; a bar has no place there all the same."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    ours, theirs = opened()
    with os.fdopen(theirs, "w") as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr("triage.terminal_screen.STDERR", Console(stderr=True))
        with Terminal(quiet=quiet).bar() as told:
            told("reading code", 1, 2)
        drawn = b""
        while select.select([ours], [], [], 0)[0]:
            drawn += os.read(ours, 65_536)

    assert (b"reading code" in drawn) is seen


@pytest.mark.slow
def test_control_c_while_code_is_read_keeps_what_was_done_and_nothing_is_embedded_twice(desk, monkeypatch):
    """At a terminal, where progress is seen: interrupted in the middle, and resumed in another process."""
    a_repository(desk / "shop", CARTS)
    with triage_at(monkeypatch, a_team_that_searches()):
        job, terminal = at_a_terminal("run", "--repo", "shop", *NEW)
        read_until(terminal, b"reading code")
        os.write(terminal, b"\x03")
        told = read_until(terminal, b"the job is kept")
        assert job.wait(timeout=300) == 130
        assert b"Traceback" not in told
        [done] = kept(desk)
        kept(desk, *MARKING)

        job, terminal = at_a_terminal("run", *AGAIN)
        read_until(terminal, b"report.md")
        assert job.wait(timeout=300) == 0
    assert 0 < done < PIECES  # it did not go on to the end
    assert kept(desk) == (PIECES + 2,)  # the shop's own chunk, and the query
    assert kept(desk, *MARKED) == (done,)


def test_a_command_that_is_over_does_not_clear_its_memory_away_piece_by_piece():
    """It takes most of a second, for which Ctrl-C would wait."""
    code = (
        "import sys, triage.entry_point as start\n"
        "class Kept:\n    def __del__(self):\n        print('cleared away')\n"
        "kept = Kept(); sys.argv = ['triage', '--version']; start.run()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout.startswith("triage ")
    assert "cleared away" not in ended.stdout


async def test_a_service_answers_while_it_reads_code():
    """The search has begun, and waits for something that comes only after the service has said that it is up."""
    begun, up = threading.Event(), threading.Event()

    class Waiting(HashEmbedder):
        def embed(self, texts):
            begun.set()
            assert up.wait(60), "nothing else was answered meanwhile"
            return super().embed(texts)

    index = CodebaseIndex(chunks_of("a.py", "x = 1\n"), frozenset({"a.py"}), Waiting(), watch=unwatched)
    service = app(replace(a_toolbox(a_team()), index_of=lambda _: index))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(service), base_url="http://agents.invalid") as client:
        wanted = {"input": {"repository": "shop", "hypothesis": "h"}}
        search = asyncio.create_task(client.post("/agents/codebase_search/invoke", json=wanted, timeout=60))
        while not begun.is_set():  # noqa: ASYNC110  # a thread tells in no other way
            await asyncio.sleep(0.01)
        assert (await client.get("/health")).json()["status"] == "ok"
        up.set()

        assert (await search).status_code == 200
