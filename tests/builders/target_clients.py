"""Nodes that ask a model by each HTTP library and SDK that is captured."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

import aiohttp
import anthropic
import httpx
import httpx2
import openai
import requests
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

HELLO = [{"role": "user", "content": "hello"}]


class State(TypedDict, total=False):
    said: Any


def one_node(node: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("ask", node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile()


def body_of(stream: bool = False) -> dict[str, Any]:
    return {"model": "m-1", "messages": HELLO, **({"stream": True} if stream else {})}


def openai_sync(url: str) -> str:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")
    return client.chat.completions.create(model="m-1", messages=HELLO).choices[0].message.content


async def openai_async(url: str) -> str:
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k")
    return (await client.chat.completions.create(model="m-1", messages=HELLO)).choices[0].message.content


def openai_stream(url: str) -> list[str]:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")
    chunks = client.chat.completions.create(model="m-1", messages=HELLO, stream=True)
    return [chunk.choices[0].delta.content or "" for chunk in chunks]


async def openai_async_stream(url: str) -> list[str]:
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k")
    chunks = await client.chat.completions.create(model="m-1", messages=HELLO, stream=True)
    return [chunk.choices[0].delta.content or "" async for chunk in chunks]


def openai_responses(url: str) -> str:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")
    return client.responses.create(model="m-1", input="hello").output_text


async def openai_responses_stream(url: str) -> list[str]:
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k")
    events = await client.responses.create(model="m-1", input="hello", stream=True)
    return [event.delta async for event in events if event.type == "response.output_text.delta"]


def anthropic_sync(url: str) -> str:
    client = anthropic.Anthropic(base_url=url, api_key="k")
    return client.messages.create(model="claude-x", max_tokens=9, messages=HELLO).content[0].text


async def anthropic_async_stream(url: str) -> list[str]:
    client = anthropic.AsyncAnthropic(base_url=url, api_key="k")
    async with client.messages.stream(model="claude-x", max_tokens=9, messages=HELLO) as stream:
        return [text async for text in stream.text_stream]


def langchain_openai(url: str) -> str:
    return ChatOpenAI(model="m-1", base_url=f"{url}/v1", api_key="k").invoke("hello").content


async def langchain_openai_stream(url: str) -> list[str]:
    model = ChatOpenAI(model="m-1", base_url=f"{url}/v1", api_key="k")
    return [chunk.content async for chunk in model.astream("hello") if chunk.content]


async def langchain_anthropic(url: str) -> str:
    return (await ChatAnthropic(model="claude-x", base_url=url, api_key="k").ainvoke("hello")).content


def with_requests(url: str) -> str:
    return requests.post(f"{url}/v1/chat/completions", json=body_of(), timeout=9).json()["choices"][0]["message"][
        "content"
    ]


def with_requests_stream(url: str) -> list[str]:
    with requests.post(f"{url}/v1/chat/completions", json=body_of(stream=True), stream=True, timeout=9) as found:
        return [line.decode() for line in found.iter_lines()]


async def with_aiohttp(url: str) -> str:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/chat/completions", json=body_of()) as found:
        # google-genai looks at the type of the headers
        return f"{type(found.headers).__name__} {(await found.json())['choices'][0]['message']['content']}"


async def with_aiohttp_stream(url: str) -> list[str]:
    address = f"{url}/v1/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(address, json=body_of(stream=True)) as found:
        return [line.decode() async for line in found.content]


def with_httpx(url: str) -> str:
    return httpx.post(f"{url}/v1/chat/completions", json=body_of()).json()["choices"][0]["message"]["content"]


async def with_httpx2(url: str) -> str:
    async with httpx2.AsyncClient() as client:
        return (await client.post(f"{url}/v1/chat/completions", json=body_of())).json()["choices"][0]["message"][
            "content"
        ]


def in_a_thread_pool(url: str) -> list[str]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(openai_sync, [url]))


CLIENTS = [
    openai_sync,
    openai_async,
    openai_stream,
    openai_async_stream,
    openai_responses,
    openai_responses_stream,
    anthropic_sync,
    anthropic_async_stream,
    langchain_openai,
    langchain_openai_stream,
    langchain_anthropic,
    with_requests,
    with_requests_stream,
    with_aiohttp,
    with_aiohttp_stream,
    with_httpx,
    with_httpx2,
    in_a_thread_pool,
]


def asking(client: Any, *words: str) -> Any:
    """A graph whose only node calls the client."""
    if asyncio.iscoroutinefunction(client):

        async def node(_: State) -> State:
            return {"said": await client(*words)}

        return one_node(node)
    return one_node(lambda _: {"said": client(*words)})
