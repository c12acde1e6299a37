"""HTTP of a target: recorded from a real server, replayed with the server stopped, refused where nobody recorded it."""

import asyncio
import contextlib
import json
import socket
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import requests

from evals.target.drive import TargetCall
from tests.builders.model_server import model_server
from tests.builders.target_clients import (
    CLIENTS,
    State,
    anthropic_sync,
    asking,
    body_of,
    one_node,
    openai_async,
    openai_stream,
    openai_sync,
    with_aiohttp,
    with_requests,
)
from tests.builders.target_session import target_session


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
async def test_a_client_hears_the_same_from_the_server_and_from_the_cassette(client: Any, tmp_path: Path) -> None:
    with target_session(tmp_path) as session:
        with model_server(lambda *_: "good day") as (url, bodies):
            recorded = await session.record(TargetCall(asking(client, url), {}))
        replayed = await session.replay(TargetCall(asking(client, url), {}))

    assert recorded.error is None
    assert "good" in str(recorded.output["said"])
    assert len(bodies) == 1
    assert replayed == recorded
    assert session.cassette.interactions[0].agent == "ask"
    assert session.cassette.interactions[0].usage.completion_tokens in {0, 2, 4}


async def test_a_stream_is_replayed_in_its_own_chunks(tmp_path: Path) -> None:
    async def node(_: State) -> State:
        async with (
            httpx.AsyncClient() as client,
            client.stream("POST", f"{url}/v1/chat/completions", json=body_of(stream=True)) as found,
        ):
            return {"said": [chunk.decode() async for chunk in found.aiter_raw()]}

    with target_session(tmp_path) as session:
        with model_server(lambda *_: "good day") as (url, _):
            await session.record(TargetCall(one_node(node), {}))
        replayed = await session.replay(TargetCall(one_node(node), {}))

    chunks = replayed.output["said"]
    assert isinstance(chunks, list)
    assert len(chunks) == 6
    assert all(chunk.startswith("data: ") and chunk.endswith("\n\n") for chunk in chunks)
    assert chunks[-1] == "data: [DONE]\n\n"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
async def test_a_request_that_nobody_recorded_is_a_miss_and_reaches_no_server(client: Any, tmp_path: Path) -> None:
    with target_session(tmp_path) as session, model_server(lambda *_: "live") as (url, bodies):
        run = await session.replay(TargetCall(asking(client, url), {}))

    assert run.ended == "missed"
    assert len(run.missed) == 1, "an SDK repeated it"
    assert not bodies


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
async def test_a_request_outside_of_a_trial_reaches_no_server(client: Any, tmp_path: Path) -> None:
    with target_session(tmp_path), model_server(lambda *_: "live") as (url, bodies):
        with contextlib.suppress(Exception):
            said = await client(url) if asyncio.iscoroutinefunction(client) else client(url)
            assert "live" not in str(said)
        assert not bodies


async def test_aiohttp_is_answered_where_vcrpy_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "vcr"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "vcr", None)
    with target_session(tmp_path) as session:
        with model_server(lambda *_: "good day") as (url, _):
            await session.record(TargetCall(asking(with_aiohttp, url), {}))
        replayed = await session.replay(TargetCall(asking(with_aiohttp, url), {}))

    assert replayed.output == {"said": "CIMultiDictProxy good day"}


async def test_trials_side_by_side_hear_only_their_own_answers(tmp_path: Path) -> None:
    answers = iter("abcdefgh")
    paths = [tmp_path / f"{n}.yaml" for n in range(4)]
    with target_session(tmp_path) as session:
        with model_server(lambda *_: next(answers)) as (url, _):
            calls = [TargetCall(asking(client, url), {}) for client in (openai_sync, openai_async) * 2]
            recorded = [await session.record(call, path) for call, path in zip(calls, paths, strict=True)]
        replayed = await asyncio.gather(*map(session.replay, calls * 5, paths * 5))

    assert [run.output["said"] for run in recorded] == list("abcd")
    assert [run.output["said"] for run in replayed] == list("abcd") * 5


async def test_trials_are_recorded_side_by_side(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.yaml" for n in range(4)]
    with target_session(tmp_path) as session:
        with model_server(lambda *_: "good day") as (url, bodies):
            calls = [
                TargetCall(asking(client, url), {})
                for client in (openai_sync, openai_async, with_aiohttp, with_requests)
            ]
            recorded = await asyncio.gather(*map(session.record, calls, paths))
        replayed = await asyncio.gather(*map(session.replay, calls, paths))

    assert len(bodies) == 4
    assert list(replayed) == list(recorded)


async def test_a_host_that_nobody_named_is_refused_in_one_clear_line(tmp_path: Path) -> None:
    def node(_: State) -> State:
        return {"said": requests.get("http://weather.invalid/today", timeout=9).text}

    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(one_node(node), {}))

    assert run.ended == "missed"
    assert run.error == (
        "GET weather.invalid/today: not let through; "
        "name weather.invalid in `record` or `pass_through` of [target] in evals.toml"
    )


@pytest.mark.parametrize(
    "connect",
    [
        lambda: urllib.request.urlopen("http://weather.invalid/today", timeout=9),
        lambda: socket.create_connection(("192.0.2.1", 80), timeout=9),
        lambda: socket.socket().connect_ex(("192.0.2.1", 80)),
    ],
    ids=["urllib", "create_connection", "connect_ex"],
)
async def test_a_connection_that_no_library_of_ours_makes_is_refused(connect: Any, tmp_path: Path) -> None:
    def node(_: State) -> State:
        with contextlib.suppress(Exception):
            connect()
        return {"said": "swallowed"}

    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(one_node(node), {}))

    assert run.ended == "missed"
    assert "its library cannot be recorded" in str(run.error)


async def test_grpc_is_refused(tmp_path: Path) -> None:
    grpc = pytest.importorskip("grpc")

    def node(_: State) -> State:
        with contextlib.suppress(Exception):
            grpc.insecure_channel("dns:///generativelanguage.invalid:443")
        return {}

    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(one_node(node), {}))

    assert run.refused == (
        (
            "connection to generativelanguage.invalid: its library cannot be recorded; "
            "name generativelanguage.invalid in `pass_through` of [target] in evals.toml to ask it live"
        ),
    )


async def test_a_library_with_sockets_of_its_own_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """primp, in Rust, is not installed here: its stand-in has the same names."""

    class Client:
        def get(self, url: str) -> str:
            return url

    monkeypatch.setitem(sys.modules, "primp", SimpleNamespace(Client=Client))
    graph = one_node(lambda _: {"said": Client().get("https://weather.invalid/today")})
    with target_session(tmp_path) as session:
        run = await session.replay(TargetCall(graph, {}))
        named = await session.replay(TargetCall(graph, {}), pass_through=frozenset({"weather.invalid"}))

    assert run.refused[0].startswith("connection to weather.invalid: its library cannot be recorded; name")
    assert named.output == {"said": "https://weather.invalid/today"}


async def test_a_service_that_is_recorded_by_name_is_replayed(tmp_path: Path) -> None:
    def node(_: State) -> State:
        found = requests.get(f"{url}/weather?day=1&api_key=abc", timeout=9)
        return {"said": [found.status_code, found.json()]}

    with target_session(tmp_path) as session:
        with model_server(lambda *_: "") as (url, _):
            recorded = await session.record(TargetCall(one_node(node), {}), record={"127.0.0.1"})
        replayed = await session.replay(TargetCall(one_node(node), {}), record={"127.0.0.1"})

    assert recorded.output["said"] == [200, {"path": "/weather?day=1&api_key=abc"}]
    assert replayed == recorded
    assert session.cassette.interactions[0].uri == "/127.0.0.1/weather?day=1"


async def test_a_service_that_is_passed_through_is_asked_and_named(tmp_path: Path) -> None:
    def node(_: State) -> State:
        return {"said": httpx.get(f"{url}/weather").json()}

    with target_session(tmp_path) as session, model_server(lambda *_: "") as (url, bodies):
        run = await session.replay(TargetCall(one_node(node), {}), pass_through={"127.0.0.1"})

    assert run.ended == "finished"
    assert run.passed == ("GET 127.0.0.1/weather",)
    assert bodies


@pytest.mark.parametrize("client", [openai_sync, openai_stream, anthropic_sync, with_aiohttp])
async def test_an_answer_with_a_secret_is_not_kept(client: Any, tmp_path: Path) -> None:
    secret = "key AK" + "IA" + "QZ7XK2M4V6TR8WPN"
    with target_session(tmp_path) as session, model_server(lambda *_: secret) as (url, _):
        run = await session.record(TargetCall(asking(client, url), {}))

    assert run.ended == "missed"
    assert "secret" in str(run.error) or "AWS" in str(run.error) or "aws" in str(run.error)
    assert not session.path.exists()


async def test_a_secret_that_a_stream_sends_in_two_pieces_is_not_kept(tmp_path: Path) -> None:
    secret = "AK" + "IA" + "QZ7XK2M4V6TR8WPN"
    event = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]}
    events = [json.loads(json.dumps(event)) for _ in range(3)]
    events[0]["choices"][0]["delta"]["content"] = secret[:9]
    events[1]["choices"][0]["delta"]["content"] = secret[9:]
    events[2]["choices"][0] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    from evals.cassettes.live_answer import HttpReply
    from evals.cassettes.player import IncomingRequest
    from evals.errors import RecordingError
    from evals.target.http_bodies import answer_object

    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events).encode()
    with pytest.raises(RecordingError, match="holds a secret"):
        answer_object(
            IncomingRequest("POST", "/v1/chat/completions", b"{}", "a"), HttpReply(200, "text/event-stream", body)
        )
    with pytest.raises(RecordingError, match="cut off"):
        answer_object(
            IncomingRequest("POST", "/v1/chat/completions", b"{}", "a"),
            HttpReply(200, "text/event-stream", body.rpartition(b"data:")[0].replace(secret[9:].encode(), b"")),
        )


async def test_an_endpoint_that_is_down_is_told_in_one_line(tmp_path: Path) -> None:
    with model_server(lambda *_: "") as (url, _):
        pass
    with target_session(tmp_path) as session:
        run = await session.record(TargetCall(asking(openai_sync, url), {}))

    assert run.ended == "missed"
    assert "see that the endpoint is up" in str(run.error)
    assert "\n" not in str(run.error)


@pytest.mark.parametrize("way", ["generateContent", "streamGenerateContent?alt=sse"])
async def test_the_model_of_a_gemini_answer_is_named_and_its_tokens_are_counted(way: str, tmp_path: Path) -> None:
    def node(_: State) -> State:
        body = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
        return {"said": httpx.post(f"{url}/v1beta/models/gemini-x:{way}", json=body).text}

    with target_session(tmp_path) as session, model_server(lambda *_: "") as (url, _):
        recorded = await session.record(TargetCall(one_node(node), {}))

    assert recorded.error is None
    (kept,) = session.cassette.interactions
    assert kept.model == "gemini-x"
    assert (kept.usage.prompt_tokens, kept.usage.completion_tokens) == (5, 5)


async def test_ids_and_signatures_of_the_protocols_are_no_secrets_and_anthropics_tokens_are_counted(
    tmp_path: Path,
) -> None:
    from evals.cassettes.live_answer import HttpReply, usage_of
    from evals.cassettes.player import IncomingRequest
    from evals.secret_filter import scan
    from evals.target.http_bodies import answer_object

    call = {"type": "tool_use", "id": "toolu_" + "01A09q90qw90lq917835lq9Zk", "name": "find", "input": {"topic": "tea"}}
    thought = {"type": "thinking", "thinking": "Tea.", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h" * 4 + "=="}
    whole = {
        "id": "msg_1",
        "model": "claude-x",
        "content": [thought, call],
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    start = {"type": "content_block_start", "index": 0, "content_block": call}
    asked = IncomingRequest("POST", "/v1/messages", b"{}", "a")

    kept = answer_object(asked, HttpReply(200, "application/json", json.dumps(whole).encode()))
    stream = f"data: {json.dumps(start)}\n\ndata: {json.dumps({'type': 'message_stop'})}\n\n".encode()
    events = answer_object(asked, HttpReply(200, "text/event-stream", stream))
    result = {"messages": [{"content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "x"}]}]}

    gemini = {"candidates": [{"content": {"parts": [{"text": "x", "thoughtSignature": thought["signature"]}]}}]}
    reasoning = {"output": [{"type": "reasoning", "id": "rs_1", "encrypted_content": thought["signature"]}]}
    assert scan(kept) == scan(events) == scan(result) == scan(gemini) == scan(reasoning) == []
    assert scan({"id": call["id"].replace("toolu", "srvtoolu")}) == []
    assert (usage_of(kept).prompt_tokens, usage_of(kept).completion_tokens) == (3, 4)
