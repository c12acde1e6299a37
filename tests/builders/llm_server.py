"""A tiny LLM server on loopback that knows nobody's name: it tells the agents apart by what they ask for."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.builders.endpoint import WORKER_REPLIES, a_completion, a_decision
from tests.builders.http_server import Handler, running
from tests.builders.plan import everything, tool_call

ROUTE = ("investigator", "codebase_search", "critic", "writer")
SCHEMAS = {
    "SupervisorDecision": "supervisor",
    "PlanDecision": "supervisor",
    "InvestigatorOutput": "investigator",
    "CodebaseAnswer": "codebase_search",
    "WebSearchOutput": "web_search",
    "CriticOutput": "critic",
    "ReportDraft": "writer",
    "RubricAnswer": "judge",
    "PairAnswer": "judge-pair",
}
SEARCH_TOOL = "tavily_search"
SEARCHED = {
    "query": "q",
    "results": [{"title": "Known", "url": "https://docs.invalid/0", "content": "A known bug.", "score": 0.5}],
}
"""What the search service on the same port answers."""
REGISTRY_MARK = "## Flagged agents"
"""A heading that only the registry supervisor's message has; it asks for plain text, like the writer's comment."""
Answered = tuple[int, str, bytes] | tuple[int, str, bytes, dict[str, str]] | Callable[[BaseHTTPRequestHandler], None]
"""(status, content type, body), perhaps further headers; or what to do with the connection instead."""
Answer = Callable[[str, dict[str, Any]], Answered]


def agent_of(body: Mapping[str, Any]) -> str:
    """Who asks: by the schema the answer must fit, the tools, the registry supervisor's own heading; the writer's other
    two texts by their format."""
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return SCHEMAS.get(wanted["json_schema"]["name"], "stranger")
    if SEARCH_TOOL in _offered(body):
        return "web_search"
    if "think" in _offered(body) or REGISTRY_MARK in str(body["messages"][-1]["content"]):
        return "supervisor"
    return "writer-ticket" if wanted.get("type") == "json_object" else "writer-comment"


def next_stop(context: str, route: Sequence[str] = ROUTE) -> str:
    """The first stop of `route` that has no finding in the supervisor's context yet; `end` after the last."""
    seen = set(re.findall(r"^\[\d+\] (\w+) \(confidence", context, re.MULTILINE))
    return next((node for node in route if node not in seen), "end")


def answering(
    decide: Callable[[str], str] | None = None,
    *,
    confidence: float = 0.7,
    route: Sequence[str] = ROUTE,
    **replies: Mapping[str, Any],
) -> Answer:
    """Valid answers for the whole team; a web search calls its tool. `decide` maps the supervisor's context to the next
    node, in place of the next stop of `route`; `replies` replaces what a worker says."""
    choose = decide or (lambda context: next_stop(context, route))

    def answer(agent: str, body: dict[str, Any]) -> Answered:
        if agent == "supervisor":
            completion = _supervising(body, choose, confidence, route)
        elif SEARCH_TOOL in _offered(body):
            completion = a_completion(None, "tool_calls", tool_calls=[tool_call(1, SEARCH_TOOL, query="carts")])
        else:
            completion = a_completion(_text({**WORKER_REPLIES, **replies}[agent]))
        return 200, "application/json", json.dumps(completion).encode()

    return answer


def answering_as(model: str, answer: Answer | None = None) -> Answer:
    """The same answers, given by another model."""
    given = answer or answering()

    def named(agent: str, body: dict[str, Any]) -> Answered:
        answered = given(agent, body)
        if callable(answered):
            return answered
        status, kind, content, *more = answered
        return (status, kind, json.dumps({**json.loads(content), "model": model}).encode(), *more)

    return named


def _supervising(
    body: Mapping[str, Any], decide: Callable[[str], str], confidence: float, route: Sequence[str]
) -> dict[str, Any]:
    """What a supervisor of the kind that asks can read."""
    context = str(body["messages"][1]["content"])
    if offered := _offered(body):
        calls = _planning(offered, route) if "There is no task yet." in context else []
        return a_completion("ready", "tool_calls" if calls else "stop", **({"tool_calls": calls} if calls else {}))
    if REGISTRY_MARK in context:
        called = re.search(r"^Calls so far: (.*)$", context, re.MULTILINE)
        counts = json.loads(called[1]) if called else {}
        chosen = next((node for node in route if node not in counts), "finished")
        return a_completion(_text({"reasoning": "It is next.", "next_agent": chosen, "input_check": "all there"}))
    if body["response_format"]["json_schema"]["name"] == "PlanDecision":
        return a_completion(_text(everything(context)))
    return a_completion(
        _text(a_decision(decide(context), confidence=confidence, question="Which?", question_context=""))
    )


def _planning(offered: Sequence[str], route: Sequence[str]) -> list[dict[str, Any]]:
    """The calls that make a chain of the route's tasks, where tasks can be added; reviews come by themselves."""
    chain = [name for name in route if name != "critic"] if "add_task" in offered else []
    return [
        tool_call(
            n,
            "add_task",
            objective=f"Do part {n}.",
            capability=name,
            dependencies=[n - 1][: n - 1],
            is_final=n == len(chain),
        )
        for n, name in enumerate(chain, 1)
    ]


def _offered(body: Mapping[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def _counted(content: bytes) -> int:
    """The tokens an answer counts for its prompt; 0 if it is none, or does not count."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        return int(json.loads(content)["usage"]["prompt_tokens"])
    return 0


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)


@dataclass
class LlmServer:
    """What the server answers with, and who has asked so far; `authorised` holds the keys that were sent, `searched`
    what was put to the search service, which lives at the same address without `/v1`."""

    answer: Answer
    base_url: str = ""
    asked: list[str] = field(default_factory=list)
    authorised: list[str] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    heard: Callable[[int], None] = lambda _: None
    """Called with the number of requests so far, before each answer."""
    sent: list[tuple[float, int]] = field(default_factory=list)
    """When the last byte of an answer was handed to the system (monotonic seconds), and how many tokens it counted for
    the prompt: an answer may be told by that."""

    @property
    def search_url(self) -> str:
        """Where the search service is."""
        return self.base_url.removesuffix("/v1")


@contextmanager
def an_llm_server(answer: Answer | None = None) -> Iterator[LlmServer]:
    """The server, until the block ends; any free port of 127.0.0.1."""
    told = LlmServer(answer or answering())

    def found(body: dict[str, Any]) -> Answered:
        told.searched.append(body["query"])
        return 200, "application/json", json.dumps(SEARCHED).encode()

    class Completions(Handler):
        def asked(self, body: dict[str, Any]) -> Answered:
            agent = agent_of(body)
            told.asked.append(agent)
            told.authorised.append(self.headers.get("authorization", ""))
            told.heard(len(told.asked))
            return told.answer(agent, body)

        def do_POST(self) -> None:
            body = json.loads(self.body())
            answered = found(body) if self.path == "/search" else self.asked(body)
            if callable(answered):
                answered(self)
                return
            status, kind, content, *more = answered
            self.answer(status, content, content_type=kind, **dict(*more))
            told.sent.append((time.monotonic(), _counted(content)))

    with running(Completions) as server:
        told.base_url = f"{server.url}/v1"
        yield told
