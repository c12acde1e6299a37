"""A web search service in memory, and a toolbox that has it, an index, or both."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import httpx2

from tests.builders.endpoint import a_completion, a_toolbox
from triage.agents.agent import Toolbox
from triage.codebase.index import CodebaseIndex


class SearchService:
    """Answers every search with `answer`: a JSON body, a status, or an exception to raise; keeps what it was asked."""

    def __init__(self, answer: dict[str, Any] | int | Exception) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, int):
            return httpx.Response(self.answer, json={"detail": {"error": "planned outage at 12:34"}})
        return httpx.Response(200, json=self.answer)


def some_results(*titles: str) -> dict[str, Any]:
    """What Tavily answers: one page per title."""
    pages = [
        {"title": title, "url": f"https://docs.invalid/{n}", "content": f"About {title}.", "score": 0.5}
        for n, title in enumerate(titles)
    ]
    return {"query": "q", "results": pages, "response_time": 0.1}


def a_searching_model(answer: dict[str, Any], *queries: str, tool: str = "tavily_search") -> Callable[..., Any]:
    """An endpoint that first calls the tool once per query, and then gives `answer`; see its `asked`."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        respond.asked.append(body)  # type: ignore[attr-defined]  # a function that remembers
        if not body.get("tools"):
            return httpx2.Response(200, json=a_completion(json.dumps(answer)))
        calls = [
            {"id": f"call-{n}", "type": "function", "function": {"name": tool, "arguments": json.dumps({"query": q})}}
            for n, q in enumerate(queries)
        ]
        return httpx2.Response(200, json=a_completion(None, tool_calls=calls) if calls else a_completion("No need."))

    respond.asked = []  # type: ignore[attr-defined]  # as above
    return respond


def a_searching_toolbox(model: Callable[..., Any], service: SearchService) -> Toolbox:
    """A toolbox over `model` and `service`."""
    toolbox = a_toolbox(model)
    tavily = httpx.AsyncClient(transport=httpx.MockTransport(service))
    return replace(toolbox, clients=replace(toolbox.clients, tavily_async=tavily))


def a_toolbox_with(index: CodebaseIndex, answer: Callable[..., Any]) -> Toolbox:
    """A toolbox whose every repository is `index`."""
    return replace(a_toolbox(answer), index_of=lambda _repository: index)
