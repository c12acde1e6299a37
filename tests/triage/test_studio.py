"""LangGraph's own tools find the graph through langgraph.json, and get it without their loop being blocked."""

import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from blockbuster import blockbuster_ctx

from tests.builders.desk import a_desk
from tests.builders.llm_server import an_llm_server, answering
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
    path, _, function = named().partition(":")
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
@pytest.mark.skipif(not (SERVER / ".ready").exists(), reason="LangGraph's server is not here: make studio")
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


def named() -> str:
    """File and function as langgraph.json names them."""
    return str(ROOT / json.loads((ROOT / "langgraph.json").read_text())["graphs"]["triage"])


@contextmanager
def langgraph_dev(folder: Path):
    """A client of the server, started in `folder`, where it keeps its threads."""
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": ["."], "graphs": {"triage": named()}}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", port]
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "PYTHONPATH": str(SERVER)}
    log = (folder / "server.log").open("w")
    server = subprocess.Popen(command, cwd=folder, env={**os.environ, **quiet}, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
            until(lambda: _is_up(client) or server.poll() is not None)
            assert server.returncode is None, (folder / "server.log").read_text()[-2000:]
            yield client
    finally:
        server.terminate()
        server.wait()
        log.close()


def _is_up(client: httpx.Client) -> bool:
    try:
        return client.get("/ok").is_success
    except httpx.TransportError:
        return False
