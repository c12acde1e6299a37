"""LangGraph's own tools find the graph through langgraph.json, and get it without their loop being blocked."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from blockbuster import blockbuster_ctx

from tests.builders.desk import a_desk
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.ports import a_reserved_port
from tests.builders.waiting import until
from triage.errors import InputError
from triage.state import WORKERS

ROOT = Path(__file__).parents[2]
SERVER = ROOT / ".cache" / "studio"
ISSUE = {"issue_title": "Cart total is wrong", "issue_body": "Adding two items charges for one."}
ROUTE = ("investigator", "web_search", "codebase_search", "critic", "writer")


@pytest.fixture
def make_graph(tmp_path, monkeypatch):
    """What the file names, loaded as the server loads it, with a checkout to search."""
    a_desk(tmp_path, monkeypatch)
    monkeypatch.setenv("TRIAGE_BASE_URL", "http://llm.invalid/v1")
    monkeypatch.setenv("TRIAGE_REPO", str(tmp_path / "shop"))
    path, _, function = at(json.loads((ROOT / "langgraph.json").read_text())["graphs"]["triage"]).partition(":")
    spec = importlib.util.spec_from_file_location("studio", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)


async def test_the_graph_is_built_without_blocking_the_loop(make_graph):
    with blockbuster_ctx():
        graph = await make_graph()

    assert set(WORKERS) < set(graph.get_graph().nodes)


async def test_whoever_asks_gets_the_same_graph(make_graph):
    first, second = await asyncio.gather(make_graph(), make_graph())

    assert first is second is await make_graph()


async def test_a_deployment_that_was_wrong_is_tried_again(make_graph, tmp_path, monkeypatch):
    monkeypatch.setenv("TRIAGE_REPO", "nowhere")
    with pytest.raises(InputError, match="nowhere: no such folder"):
        await make_graph()
    monkeypatch.setenv("TRIAGE_REPO", str(tmp_path / "shop"))

    assert await make_graph()


@pytest.mark.slow
@pytest.mark.skipif(not (SERVER / ".ready").exists(), reason="LangGraph's server is not here: make setup WITH=studio")
def test_langgraph_dev_runs_whole_jobs_on_a_repository(tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    with an_llm_server(answering(route=ROUTE)) as llm:
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url)
        monkeypatch.setenv("TRIAGE_TAVILY_BASE_URL", llm.search_url)
        monkeypatch.setenv("TRIAGE_REPO", str(tmp_path / "shop"))
        with langgraph_dev(tmp_path) as server:
            jobs = [server.post("/runs/wait", json={"assistant_id": "triage", "input": ISSUE}).json() for _ in range(2)]

    assert [(job["visits"], job["agent_errors"]) for job in jobs] == [(list(ROUTE), [])] * 2
    assert llm.searched == ["carts"] * 2


@pytest.mark.slow
@pytest.mark.skipif(not (SERVER / ".ready").exists(), reason="LangGraph's server is not here: make setup WITH=studio")
def test_langgraph_dev_knows_the_types_of_a_stored_question(tmp_path, monkeypatch):
    """Types that are not registered are read with a warning now, and blocked in a later version."""
    a_desk(tmp_path, monkeypatch)
    stops = iter(["investigator", "human_input", "codebase_search"])
    with an_llm_server(answering(lambda _: next(stops, "writer"))) as llm:
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url)
        monkeypatch.setenv("TRIAGE_REPO", str(tmp_path / "shop"))
        with langgraph_dev(tmp_path) as server:
            thread = f"/threads/{server.post('/threads', json={}).json()['thread_id']}"
            server.post(f"{thread}/runs/wait", json={"assistant_id": "triage", "input": ISSUE})
            waiting = server.get(f"{thread}/state").json()
            answer = {"assistant_id": "triage", "command": {"resume": "MySQL"}}
            job = server.post(f"{thread}/runs/wait", json=answer).json()

    assert waiting["next"] == ["human_input"]
    assert job["visits"] == ["investigator", "human_input", "codebase_search", "writer"]
    log = (tmp_path / "server.log").read_text()
    assert [found for found in ("unregistered type", "Blocked deserialization") if found in log] == []


def at(path: str) -> str:
    """A file and function as langgraph.json names them, from any folder."""
    return str(ROOT / path)


@contextmanager
def langgraph_dev(folder: Path):
    """A client of the server, started in `folder`, where it keeps its threads."""
    ours = json.loads((ROOT / "langgraph.json").read_text())
    named = {"graphs": {"triage": at(ours["graphs"]["triage"])}}
    named["checkpointer"] = {"path": at(ours["checkpointer"]["path"])}
    (folder / "langgraph.json").write_text(json.dumps({**ours, **named}))
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "PYTHONPATH": str(SERVER)}
    with a_reserved_port() as port, (folder / "server.log").open("w") as log:
        command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
        server = subprocess.Popen(command, cwd=folder, env={**os.environ, **quiet}, stdout=log, stderr=log)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
                until(lambda: _is_up(client) or server.poll() is not None)
                assert server.returncode is None, (folder / "server.log").read_text()[-2000:]
                yield client
        finally:
            server.terminate()
            server.wait()


def _is_up(client: httpx.Client) -> bool:
    try:
        return client.get("/ok").is_success
    except httpx.TransportError:
        return False
