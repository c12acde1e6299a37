"""The service answers its own machine, or whoever has the token; bodies are JSON and bounded."""

import socket

import httpx
import pytest

from tests.builders.at_once import triage_at_once
from tests.builders.desk import a_desk
from tests.builders.endpoint import a_team, a_toolbox
from tests.builders.loopback import serving
from tests.builders.waiting import until
from triage.agent_server import BODY_LIMIT, Access, app, guarded
from triage.cli import main
from triage.errors import ConfigurationError
from triage.live_graph import settings_from_environment
from triage.llm import live_clients

WORD = "secret"
EVERYWHERE = ".".join("0000")
GIVEN = {"input": {"issue_title": "t", "issue_body": "b"}}
HERE = Access()
INVOKE = "/agents/investigator/invoke"


def a_client(access=HERE, team=None, host="localhost", **headers) -> httpx.AsyncClient:
    service = guarded(app(a_toolbox(team or a_team())), access)
    return httpx.AsyncClient(transport=httpx.ASGITransport(service), base_url=f"http://{host}", headers=headers)


@pytest.mark.parametrize("host", ["localhost:8100", "127.0.0.1:8100", "[::1]:8100", "LOCALHOST"])
async def test_its_own_machine_is_answered(host):
    assert (await a_client(host=host).post(INVOKE, json=GIVEN)).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "169.254.1.1"])
@pytest.mark.parametrize("path", [INVOKE, "/health", "/openapi.json"])
async def test_another_host_name_is_refused(host, path):
    """DNS rebinding: a page of evil.example has its own name resolve to loopback."""
    team = a_team()
    answer = await a_client(team=team, host=host).request("POST" if path == INVOKE else "GET", path, json=GIVEN)

    assert answer.status_code == 400
    assert team.asked == []


@pytest.mark.parametrize("given", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic secret"}])
async def test_without_the_token_nobody_is_answered(given):
    team = a_team()
    answer = await a_client(Access(token=WORD), team, **given).post(INVOKE, json=GIVEN)

    assert answer.status_code == 401
    assert team.asked == []


async def test_with_the_token_it_answers_and_its_health_needs_none():
    access = Access(token=WORD)

    assert (await a_client(access, authorization="Bearer secret").post(INVOKE, json=GIVEN)).status_code == 200
    assert (await a_client(access).get("/health")).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_body_that_is_no_json_is_refused(kind):
    answer = await a_client().post(INVOKE, content=b"{}", headers={"content-type": kind} if kind else {})

    assert answer.status_code == 415


async def test_a_large_body_is_refused_by_its_length():
    answer = await a_client().post(INVOKE, json={"input": {"issue_title": "t", "issue_body": "b" * BODY_LIMIT}})

    assert answer.status_code == 413


async def test_a_large_body_is_read_no_further_than_its_bound():
    """A sender that names no length, and never comes to an end."""
    taken = []

    async def endless():
        while True:
            taken.append(1)
            yield b"x" * 10_000

    answer = await a_client().post(INVOKE, content=endless(), headers={"content-type": "application/json"})

    assert answer.status_code == 413
    assert len(taken) <= BODY_LIMIT / 10_000 + 2


@pytest.mark.parametrize(("chunks", "status"), [(-1, 422), (0, 422), (1, 200), (50, 200), (51, 422), (100_000, 422)])
async def test_a_search_reads_a_bounded_number_of_chunks(chunks, status):
    answer = await a_client().post(
        "/agents/codebase_search/invoke", json={"input": {"repository": "", "hypothesis": "h", "chunks": chunks}}
    )

    assert answer.status_code == status


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.168.0.7", "build-host"])
def test_off_loopback_it_does_not_start_without_a_token(host, tmp_path, monkeypatch, capsys):
    a_desk(tmp_path, monkeypatch)
    monkeypatch.setenv("TRIAGE_BASE_URL", "http://127.0.0.1:9/v1")

    assert main(["serve", "--repo", "shop", "--host", host]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "set TRIAGE_SERVICE_TOKEN" in line


def test_names_of_the_host_are_added_to_those_of_loopback():
    assert "agents.lan" in Access.to(EVERYWHERE, "secret", ["agents.lan"]).hosts
    assert "10.0.0.5" in Access.to("10.0.0.5", "secret").hosts
    assert EVERYWHERE not in Access.to(EVERYWHERE, "secret").hosts
    with pytest.raises(ConfigurationError):
        Access.to("10.0.0.5", "")


def test_a_port_that_is_taken_is_one_line(tmp_path, monkeypatch, capsys):
    a_desk(tmp_path, monkeypatch)
    with serving(a_team()) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        port = url.rpartition(":")[2].removesuffix("/v1")
        assert main(["serve", "--repo", "shop", "--port", port]) == 2

    assert f"triage: 127.0.0.1:{port}: cannot be listened on" in capsys.readouterr().err


async def test_the_token_is_sent_to_the_services_and_to_nobody_else(monkeypatch):
    monkeypatch.setenv("TRIAGE_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TRIAGE_SERVICE_TOKEN", "secret")
    monkeypatch.setenv("TRIAGE_AGENT_URLS", '{"critic": "http://127.0.0.1:8100"}')
    clients = live_clients(settings_from_environment())

    assert clients.services_async.headers["authorization"] == "Bearer secret"
    assert "authorization" not in clients.openai_async.headers
    assert "authorization" not in clients.tavily_async.headers


@pytest.mark.slow
def test_a_job_asks_a_service_that_wants_a_token(tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    port = _a_free_port()
    with serving(a_team("investigator", "writer")) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        monkeypatch.setenv("TRIAGE_SERVICE_TOKEN", "secret-of-the-test")
        service = triage_at_once("serve", "--repo", "shop", "--host", EVERYWHERE, "--port", str(port))
        address = f"http://127.0.0.1:{port}"
        try:
            until(lambda: _status(f"{address}/health") == 200)
            assert _status(address + INVOKE, json=GIVEN) == 401
            assert _status(address + INVOKE, json=GIVEN, headers={"host": "evil.example"}) == 400
            monkeypatch.setenv("TRIAGE_AGENT_URLS", f'{{"investigator": "{address}"}}')
            assert main(["run", "--repo", "shop", "--issue", "issue.md", "--job-id", "one", "-q"]) == 0
        finally:
            service.terminate()
            said = service.communicate()
    assert '"POST /agents/investigator/invoke HTTP/1.1" 200' in said[0]
    assert "secret-of-the-test" not in said[0] + said[1]


def _status(url, **more) -> int:
    try:
        asked = httpx.post(url, timeout=60, **more) if "json" in more else httpx.get(url, timeout=60)
    except httpx.TransportError:
        return 0
    return asked.status_code


def _a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
