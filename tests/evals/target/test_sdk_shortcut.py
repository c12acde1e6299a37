"""A replay answers the SDKs of OpenAI and Anthropic before they build an HTTP request, with the same objects."""

import inspect
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from evals.shortcut_switch import SWITCH
from evals.target.drive import TargetCall
from evals.target.http_capture import TargetTrial, trial_running
from evals.target.http_hooks import captured
from tests.bench.cost import REPOSITORY
from tests.builders.model_server import model_server
from tests.builders.target_clients import HELLO, State, one_node
from tests.builders.target_session import target_session

TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {}}}}


class Day(BaseModel):
    kind: str


def raw(found: Any) -> list[Any]:
    request = found.http_request
    sent = (request.method, str(request.url), json.loads(request.content))
    return [found.parse(), found.status_code, dict(found.headers), found.text, found.retries_taken, sent]


def openai_answers(url: str) -> Iterator[Any]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")
    chat = client.chat.completions
    yield chat.create(model="m", messages=HELLO, temperature=0.0)
    yield chat.create(model="m", messages=HELLO, extra_body={"top_k": 3}, extra_headers={"x-team": "a"})
    yield chat.create(model="m", messages=[{"role": "user", "content": "use a tool"}], tools=[TOOL])
    yield chat.parse(model="m", messages=[{"role": "user", "content": "as JSON"}], response_format=Day)
    yield raw(chat.with_raw_response.create(model="m", messages=HELLO, seed=1))
    yield raw(chat.with_raw_response.parse(model="m", messages=HELLO[:1] * 2, response_format={"type": "text"}))
    yield client.responses.create(model="m", input="hello")
    yield client.post("/embeddings", cast_to=object, body={"model": "m", "input": ["hello"]})
    yield client.post(f"{url}/other/embeddings", cast_to=object, body={"model": "m", "input": ["bye"]})
    yield list(chat.create(model="m", messages=HELLO, stream=True))
    with chat.with_streaming_response.create(model="m", messages=HELLO, seed=2) as found:
        yield found.read()


def anthropic_answers(url: str) -> Iterator[Any]:
    client = anthropic.Anthropic(base_url=url, api_key="k")
    asked: Any = {"model": "m", "max_tokens": 9, "messages": HELLO}
    yield client.messages.create(**asked)
    yield raw(client.messages.with_raw_response.create(**asked, temperature=0.5))
    yield list(client.messages.create(**asked, stream=True))


async def async_answers(url: str) -> list[Any]:
    client, other = (
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k"),
        anthropic.AsyncAnthropic(base_url=url, api_key="k"),
    )
    chat, asked = client.chat.completions, {"model": "m", "max_tokens": 9, "messages": HELLO}
    return [
        await chat.create(model="m", messages=HELLO),
        await chat.parse(model="m", messages=[{"role": "user", "content": "as JSON"}], response_format=Day),
        raw(await chat.with_raw_response.create(model="m", messages=HELLO, seed=1)),
        await client.responses.create(model="m", input="hello"),
        [chunk async for chunk in await chat.create(model="m", messages=HELLO, stream=True)],
        await other.messages.create(**asked),
        raw(await other.messages.with_raw_response.create(**asked, temperature=0.5)),
    ]


def say(texts: str, _body: Any) -> Any:
    return [("find", {"topic": "tea"})] if "use a tool" in texts else json.dumps({"kind": "good"})


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the requests that reach an HTTP client."""
    paths: list[str] = []
    for library in (httpx, httpx2):
        for kind in (library.Client, library.AsyncClient):
            original = kind.send

            def send(self: Any, request: Any, *, _original: Any = original, **options: Any) -> Any:
                paths.append(f"{request.url.path}{' stream' if options.get('stream') else ''}")
                return _original(self, request, **options)

            monkeypatch.setattr(kind, "send", send)
    return paths


async def heard(folder: Path, answers: Callable[[str], Any], url: str, *, live: bool = False) -> list[Any]:
    """What a node hears, recorded or replayed, and the keys of its requests."""
    found: list[Any] = []

    async def node(_: State) -> State:
        said = answers(url)
        found.extend(await said if inspect.isawaitable(said) else said)
        return {}

    with target_session(folder) as session:
        run = await (session.record if live else session.replay)(TargetCall(one_node(node), {}))
    assert run.error is None
    return [*found, run.keys]


@pytest.mark.parametrize("answers", [openai_answers, anthropic_answers, async_answers])
async def test_an_sdk_gives_the_same_objects_with_and_without_http(
    answers: Any, tmp_path: Path, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_server(say) as (url, _):
        recorded = await heard(tmp_path, answers, url, live=True)
    del sent[:]
    short = await heard(tmp_path, answers, url)
    over_http = list(sent)
    monkeypatch.setenv(SWITCH, "1")
    plain = await heard(tmp_path, answers, url)

    assert [type(each) for each in short] == [type(each) for each in plain]
    assert short == plain == recorded
    assert all("stream" in path for path in over_http)


async def test_langchain_asks_without_http_too(tmp_path: Path, sent: list[str]) -> None:
    def answers(url: str) -> Any:
        model = ChatOpenAI(model="m", base_url=f"{url}/v1", api_key="k")
        return [model.invoke("hello").content, model.with_structured_output(Day).invoke("as JSON")]

    with model_server(say) as (url, _):
        recorded = await heard(tmp_path, answers, url, live=True)
    del sent[:]

    assert await heard(tmp_path, answers, url) == recorded
    assert not sent


class Mine(openai.OpenAI):
    """A client of the target's own."""


@pytest.mark.parametrize(
    "make",
    [
        lambda url: openai.OpenAI(base_url=url, api_key="k", http_client=httpx2.Client(timeout=9)),
        lambda url: openai.OpenAI(base_url=url, api_key="k", default_query={"day": "1"}),
        lambda url: openai.AzureOpenAI(base_url=url, api_key="k", api_version="1"),
        lambda url: Mine(base_url=url, api_key="k"),
    ],
    ids=["client", "query", "azure", "subclass"],
)
async def test_a_client_that_may_do_more_is_answered_over_http(make: Any, tmp_path: Path, sent: list[str]) -> None:
    def answers(url: str) -> Any:
        return [make(f"{url}/v1").chat.completions.create(model="m", messages=HELLO)]

    with model_server(say) as (url, _):
        recorded = await heard(tmp_path, answers, url, live=True)
    del sent[:]

    assert await heard(tmp_path, answers, url) == recorded
    assert len(sent) == 1


async def test_a_host_that_is_passed_through_is_asked_although_its_answer_is_recorded(tmp_path: Path) -> None:
    def answers(url: str) -> Any:
        return [openai.OpenAI(base_url=f"{url}/v1", api_key="k").chat.completions.create(model="m", messages=HELLO)]

    with target_session(tmp_path) as session, model_server(say) as (url, bodies):
        await heard(tmp_path, answers, url, live=True)
        graph = one_node(lambda _: {"said": answers(url)[0].id})
        run = await session.replay(TargetCall(graph, {}), pass_through={"127.0.0.1"})

    assert run.passed == ("POST 127.0.0.1/v1/chat/completions",)
    assert len(bodies) == 2


@pytest.mark.parametrize("name", ["request", "_process_response"])
async def test_an_sdk_without_the_inner_names_is_answered_over_http(
    name: str, tmp_path: Path, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names are there under another name, as in a version of the SDK that has renamed them."""
    with model_server(say) as (url, _):
        recorded = await heard(tmp_path, anthropic_answers, url, live=True)
    del sent[:]
    renamed(anthropic._base_client.SyncAPIClient, name, monkeypatch)

    assert await heard(tmp_path, anthropic_answers, url) == recorded
    assert len(sent) == 3


def renamed(kind: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kind` without that name; whoever asks an instance for it gets it from elsewhere."""
    original = getattr(kind, name)
    monkeypatch.delattr(kind, name)
    monkeypatch.setattr(kind, "__getattr__", lambda self, asked: partial(original, self), raising=False)


def test_the_requests_of_the_examples_have_the_keys_they_were_recorded_under(sent: list[str]) -> None:
    client = openai.OpenAI(base_url="http://recorded.invalid/v1", api_key="k")
    asked: list[str] = []
    served: list[str] = []
    for path in sorted((REPOSITORY / "docs" / "examples").glob("*/cassettes/*.yaml")):
        with captured(), trial_running(TargetTrial(Tape(load(path)))) as trial:
            for each in trial.tape.cassette.interactions:
                client.post("/chat/completions", cast_to=object, body=each.request)
                asked.append(each.key)
        served += [found.key for found in trial.tape.ledger.served]

    assert len(asked) > 200
    assert served == asked
    assert not sent


async def test_langchain_reads_a_recorded_answer_without_a_thread(tmp_path: Path) -> None:
    threads: list[bool] = []

    class Model(ChatOpenAI):
        def _create_chat_result(self, *args: Any, **kwargs: Any) -> Any:
            threads.append(threading.current_thread().name == "target")
            return super()._create_chat_result(*args, **kwargs)

    async def answers(url: str) -> Any:
        return [(await Model(model="m", base_url=f"{url}/v1", api_key="k").ainvoke("hello")).content]

    with model_server(say) as (url, _):
        recorded = await heard(tmp_path, answers, url, live=True)

    assert await heard(tmp_path, answers, url) == recorded
    assert threads == [True, False]
