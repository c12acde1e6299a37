"""The other side of batch rounds: who reads request files and writes answer files."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evals.cassettes.player import IncomingRequest
from evals.recording.batch_files import Pending, custom_id
from tests.builders.interaction import a_chat_answer, an_asked
from tests.builders.llm_server import Answer, agent_of, answering

ASKING_A_SERVER = """
import json, sys, urllib.request
for line in sys.stdin:
    asked = json.loads(line)
    sent = urllib.request.Request(sys.argv[1] + asked["url"], json.dumps(asked["body"]).encode())
    with urllib.request.urlopen(sent) as answer:
        response = {"status_code": answer.status, "body": json.load(answer)}
    print(json.dumps({"custom_id": asked["custom_id"], "response": response, "error": None}), flush=True)
"""
"""A command for `--answer-with` that puts every request to the server its argument names."""


def a_command(folder: Path, script: str, *words: str) -> str:
    """The command line of a Python script."""
    folder.mkdir(parents=True, exist_ok=True)
    script_file = folder / "answer.py"
    script_file.write_text(script, encoding="utf-8")
    return " ".join([sys.executable, str(script_file), *words])


def requests_in(folder: Path) -> list[dict[str, Any]]:
    """All requests of a round."""
    files = sorted(folder.glob("shard-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def an_answer(asked: dict[str, Any], answer: Answer | None = None) -> dict[str, Any]:
    """The line that answers a request, as the whole team of `answering` would."""
    status, _, content = (answer or answering())(agent_of(asked["body"]), asked["body"])
    response = {"status_code": status, "request_id": "r", "body": json.loads(content)}
    return {"id": "batch_req_1", "custom_id": asked["custom_id"], "response": response, "error": None}


def answers(path: Path, lines: Iterable[dict[str, Any] | str]) -> Path:
    """An answer file; a string is written as it is."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def a_batch_request(words: str = "Why?", **body: Any) -> IncomingRequest:
    """A request by the critic whose answer must be JSON with one number, `confidence`."""
    schema = {"type": "object", "properties": {"confidence": {"type": "number"}}, "required": ["confidence"]}
    form = {"type": "json_schema", "json_schema": {"name": "Verdict", "schema": schema}}
    return an_asked(words, **{"response_format": form, **body})


def a_pending(words: str = "Why?", case_id: str = "local-bug", **body: Any) -> Pending:
    """That request, waiting for its answer."""
    request = a_batch_request(words, **body)
    return Pending(custom_id(request.key, 0), case_id, request)


def a_line(pending: Pending, content: str | None = '{"confidence": 1}', **more: Any) -> dict[str, Any]:
    """A line that answers it; `more` replaces members of the line."""
    body = a_chat_answer()
    body["choices"][0]["message"]["content"] = content
    body |= more.pop("body", {})
    response = {"status_code": more.pop("status", 200), "body": body}
    return {"custom_id": pending.custom_id, "response": response, "error": None} | more
