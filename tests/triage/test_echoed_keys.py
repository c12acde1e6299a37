"""A host that repeats the key it was sent, or never stops answering: nothing of it is printed, and it ends."""

import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.github import a_github
from tests.builders.unruly import only
from triage import github_client as github

TOKEN = "ghost-of-" + "a-token-1234"
KEY = "key-of-" + "the-model-1234"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    desk = a_desk(tmp_path, monkeypatch)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("TRIAGE_API_KEY", KEY)
    return desk


def at_github(monkeypatch, host, *more: str) -> int:
    monkeypatch.setenv("GITHUB_API_URL", host.url)
    with triage_at(monkeypatch) as (run, _):
        return run("run", "--repo", "shop", "--issue-url", host.issue, *more)


@pytest.mark.parametrize(("status", "code"), [(401, 2), (403, 2), (404, 2), (500, 3)])
@pytest.mark.parametrize("echo", [TOKEN, TOKEN[::-1], f"Bearer {TOKEN}"])
def test_a_token_that_the_host_repeats_is_masked(desk, monkeypatch, capsys, status, code, echo):
    with a_github() as host:
        host.refuse = lambda *_: status
        host.garble = lambda *_: json.dumps({"message": f"bad token {echo}"}).encode()
        assert at_github(monkeypatch, host, "--verbose") == code

    told = capsys.readouterr()
    assert "[key withheld]" in told.err
    assert echo not in told.err + told.out


@pytest.mark.parametrize("agents", [["critic"], ["investigator"], ["supervisor"]])
@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_key_that_the_endpoint_repeats_is_masked_everywhere(desk, monkeypatch, capsys, status, agents):
    """Also where it is cut off in the middle, and in what the job writes of the failure."""
    said = json.dumps({"error": {"message": f"{'x' * 40} {KEY}"}}).encode()
    fault = only(agents, lambda *_: (status, "application/json", said))
    with triage_at(monkeypatch, fault) as (run, llm):
        run("run", "--repo", "shop", *NEW, "--verbose")
        assert llm.asked

    told = capsys.readouterr()
    written = [path.read_text() for path in Path(".triage").rglob("*") if path.suffix in (".md", ".json")]
    assert "xxxx" in told.err or status == 401 or agents == ["supervisor"]  # else told by its status alone
    assert KEY[:12] not in told.err + told.out + "".join(written)


def test_an_answer_of_github_that_is_too_long_is_not_read(desk, monkeypatch, capsys):
    monkeypatch.setattr(github, "MAX_ANSWER_BYTES", 10_000)
    with a_github() as host:
        host.garble = lambda *_: json.dumps({"message": "x" * 20_000}).encode()
        assert at_github(monkeypatch, host) == 3

    assert "/repos/shop/carts/issues/7: the answer is over 10,000 bytes; not read" in capsys.readouterr().err


def test_an_answer_of_github_that_never_ends_is_left(desk, monkeypatch, capsys):
    monkeypatch.setattr(github, "TIMEOUT_S", 1)
    with endless() as host:
        assert at_github(monkeypatch, host) == 3

    assert "the answer is not whole after 1 s; not read" in capsys.readouterr().err


def test_pages_of_github_that_never_end_are_left(desk, monkeypatch, capsys):
    monkeypatch.setattr(github, "MAX_PAGES", 3)
    with a_github() as host:
        assert at_github(monkeypatch, host, "--job-id", "one") == 0
        host.comments += [{"html_url": "u", "body": "b"}] * 20
        with triage_at(monkeypatch) as (run, _):
            assert run("publish", "one") == 3

    assert "lists more than 3 pages; nothing was posted" in capsys.readouterr().err


@contextmanager
def endless():
    """A host that answers a few bytes at a time until the other side has gone."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                while not over.wait(0.05):
                    self.wfile.write(b"x" * 100)

        def log_message(self, *_: object) -> None:
            """Silence: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield SimpleNamespace(url=url, issue=f"{url}/shop/carts/issues/7")
    finally:
        over.set()
        server.shutdown()
        server.server_close()
