"""An OpenAI-compatible endpoint in memory: it answers each agent from a script and remembers what it was asked."""

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import httpx2
from pydantic import SecretStr

from triage.agents.agent import Toolbox
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
from triage.llm import AGENT_HEADER, HttpClients, ModelFactory
from triage.settings import Settings

Reply = Mapping[str, Any] | str | int
NOW = dt.datetime(2026, 11, 22, 9, 30, tzinfo=dt.UTC)
"""The time in every test."""


@dataclass
class Endpoint:
    """Answers by agent: the next line of its script, the last one for ever. A dict is sent as JSON content, a
    string as it is, a number as an HTTP status."""

    script: Mapping[str, Sequence[Reply]]
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        agent = request.headers[AGENT_HEADER] + _part(body) * (request.headers[AGENT_HEADER] == "writer")
        lines = self.script[agent]
        reply = lines[min(self.count(agent), len(lines) - 1)]
        self.asked.append((agent, body))
        if isinstance(reply, int):
            return httpx2.Response(reply, json={"error": {"message": "planned outage"}})
        content = reply if isinstance(reply, str) else json.dumps(reply)
        return httpx2.Response(200, json=a_completion(content))

    def count(self, agent: str) -> int:
        """Requests of `agent` so far."""
        return sum(name == agent for name, _ in self.asked)

    def messages(self, agent: str, n: int = 0) -> list[str]:
        """The texts of the messages in the n-th request of `agent`."""
        bodies = [body for name, body in self.asked if name == agent]
        return [message["content"] for message in bodies[n]["messages"]]


def _part(body: dict[str, Any]) -> str:
    """Which of the writer's three texts is asked for: "" is the report, else "-ticket" or "-comment"."""
    kind = body.get("response_format", {}).get("type")
    return {"json_schema": "", "json_object": "-ticket"}.get(kind, "-comment")


def a_completion(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def some_clients(answer: Callable[[httpx2.Request], httpx2.Response]) -> HttpClients:
    """Clients that ask `answer` and nobody else; a web search finds nothing."""
    transport = httpx2.MockTransport(answer)
    nothing = httpx.MockTransport(lambda _: httpx.Response(200, json={"query": "", "results": []}))
    return HttpClients(
        openai=httpx2.Client(transport=transport),
        openai_async=httpx2.AsyncClient(transport=transport),
        tavily_async=httpx.AsyncClient(transport=nothing),
    )


def some_models(answer: Callable[[httpx2.Request], httpx2.Response]) -> ModelFactory:
    """The models of the default settings, all answered by `answer`."""
    return ModelFactory(offline_settings(), some_clients(answer))


def offline_settings() -> Settings:
    """Settings that name no real endpoint and do not wait between attempts."""
    return Settings(base_url="http://llm.invalid/v1", api_key=SecretStr("unused"), retry_jitter=False)


def a_decision(next_node: str = "codebase_search", **fields: Any) -> dict[str, Any]:
    """What a supervisor model replies."""
    told = {"reasoning": "It is next.", "question": None, "question_context": None, "confidence": 0.5}
    return {"next_node": next_node, **told, **fields}


SAID: dict[str, Any] = {"reasoning": "r", "summary": "s", "confidence": 0.7, "error": None}
WORKER_REPLIES: dict[str, Reply] = {
    "investigator": {
        **SAID,
        "hypothesis": "Quantities are overwritten.",
        "affected_areas": ["cart"],
        "keywords_for_search": ["cart"],
        "error_messages": [],
    },
    "codebase_search": {**SAID, "relevant_files": [], "root_cause_location": "shop/cart.py::add"},
    "web_search": {**SAID, "external_root_cause": None, "relevant_results": []},
    "critic": {
        **SAID,
        "verdict": "CONFIRMED",
        "confidence_adjustment": 0.2,
        "gaps": [],
        "revised_hypothesis": None,
        "ready_for_report": True,
    },
    "writer": {
        "root_cause": "Quantities are overwritten.",
        "root_cause_location": "shop/cart.py::add",
        "category": "code",
        "severity": "HIGH",
        "affected_files": ["shop/cart.py"],
        "evidence": ["line 12"],
        "next_steps": ["add them up"],
        "confidence": 0.9,
    },
    "writer-comment": "## Triage\nQuantities are overwritten.",
    "writer-ticket": {"title": "Cart loses quantities", "labels": ["bug"], "assignee": None, "effort": "S"},
    "judge": {
        "root_cause_quote": "Quantities are overwritten.",
        "root_cause_reason": "It is another cause.",
        "root_cause": "other",
        "unsupported_quotes": [],
        "faithful_reason": "All is found.",
        "faithful": "supported",
        "actionable_quote": "add them up",
        "actionable_reason": "It can be done.",
        "actionable": "ready",
        "comment_quote": "",
        "comment_reason": "It is polite.",
        "comment": "fine",
        "severity_reason": "It fits.",
        "severity": "fits",
    },
    "judge-pair": {"first_strength": "nothing", "second_strength": "nothing", "reason": "Alike.", "preferred": "tie"},
}


def a_team(*decisions: str | Mapping[str, Any], **replies: Sequence[Reply]) -> Endpoint:
    """An endpoint whose supervisor decides as listed, sure enough for a report, the last decision for ever, and whose
    workers all succeed."""
    told = [a_decision(one, confidence=0.9) if isinstance(one, str) else one for one in decisions]
    return Endpoint({**{name: [reply] for name, reply in WORKER_REPLIES.items()}, "supervisor": told, **replies})


def a_toolbox(answer: Callable[[httpx2.Request], httpx2.Response]) -> Toolbox:
    """A toolbox over `answer`, with no source code to search."""
    models = some_models(answer)
    nothing = CodebaseIndex.build(None, MiniLM())
    return Toolbox(models.settings, models.clients, models, lambda _repository: nothing, lambda: NOW)
