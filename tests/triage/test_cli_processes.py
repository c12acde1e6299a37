"""`triage` as a process of its own: killed, interrupted, serving."""

import signal
import socket
import subprocess
import sys
import threading

import httpx
import pytest

from tests.builders.at_once import triage_at_once
from tests.builders.desk import AGAIN, NEW, a_desk
from tests.builders.endpoint import Endpoint, a_team
from tests.builders.loopback import serving
from tests.builders.ports import a_reserved_port
from tests.builders.waiting import until
from triage.cli import main


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


@pytest.mark.slow
def test_help_does_not_load_the_graph():
    """`triage --help` answers at once; langgraph alone takes most of a second."""
    program = "import sys; from triage.cli import main; main(['run', '--help']); print(sorted(sys.modules))"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    ).stdout

    assert "'typer'" in told
    assert not [name for name in ("langgraph", "openai", "chromadb", "langchain_core") if f"'{name}'" in told]


@pytest.mark.slow
def test_a_killed_job_is_resumed_without_repeating_a_visit(desk, monkeypatch):
    """A kill -9 while the critic is being asked: what was done before is not done again."""
    team = a_team("investigator", "critic", "writer")
    with serving(ThinkingCritic(team)) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        job = triage_at_once("run", "--repo", "shop", *NEW)
        until(lambda: team.count("critic") == 1)
        job.send_signal(signal.SIGKILL)
        job.wait()

    rest = a_team("writer")
    with serving(rest) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        assert main(["run", "--repo", "shop", *AGAIN]) == 0
    assert (rest.count("investigator"), rest.count("critic")) == (0, 1)


@pytest.mark.slow
def test_control_c_is_one_line_and_the_job_is_kept(desk, monkeypatch):
    team = a_team("investigator", "critic", "writer")
    with serving(ThinkingCritic(team)) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        job = triage_at_once("run", "--repo", "shop", *NEW)
        until(lambda: team.count("critic") == 1)
        job.send_signal(signal.SIGINT)
        told = job.communicate(timeout=300)[1]

    assert job.returncode == 130
    assert told.splitlines()[-1].startswith("triage: interrupted; the job is kept")
    assert "Traceback" not in told


@pytest.mark.slow
def test_the_agents_can_be_served(desk, monkeypatch):
    with serving(a_team("end")) as url, a_reserved_port() as port:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        service = triage_at_once("serve", "--repo", "shop", "--port", str(port))
        invoke = f"http://127.0.0.1:{port}/agents/investigator/invoke"
        try:
            until(lambda: service.poll() is not None or _answers(f"http://127.0.0.1:{port}/openapi.json"))
            assert service.poll() is None, service.communicate()
            answer = httpx.post(invoke, json={"input": {"issue_title": "t", "issue_body": "b"}}, timeout=300)
        finally:
            service.terminate()
            lines = service.communicate()[0]

    assert answer.json()["output"]["hypothesis"] == "Quantities are overwritten."
    assert '"POST /agents/investigator/invoke HTTP/1.1" 200' in lines


def test_a_port_in_use_is_one_line_and_no_outage(desk, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("TRIAGE_BASE_URL", "http://127.0.0.1:9/v1")
        port = str(taken.getsockname()[1])
        service = triage_at_once("serve", "--repo", "shop", "--port", port)
        told = service.communicate(timeout=300)[1]

    assert service.returncode == 2
    [line] = told.strip().splitlines()
    assert line.startswith(f"triage: 127.0.0.1:{port}: cannot be listened on (")
    assert line.endswith("name another --host or --port")


class ThinkingCritic:
    """An endpoint whose critic never answers: a job goes no further, however long a test takes to kill it."""

    def __init__(self, team: Endpoint) -> None:
        self.team = team

    def __call__(self, request):
        answer = self.team(request)
        if self.team.asked[-1][0] == "critic":
            threading.Event().wait(300)  # in a daemon thread of the server: nobody waits for its end
        return answer


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=30).is_success
    except httpx.TransportError:
        return False
