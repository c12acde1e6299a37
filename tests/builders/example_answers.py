"""Answers of a made-up model to the two example projects: it decides by single words and does what its prompt says."""

import json
from collections.abc import Mapping
from typing import Any

Said = str | list[tuple[str, dict[str, Any]]]


def say(_texts: str, body: Mapping[str, Any]) -> Said:
    """The answer to any request of `docs/examples/`; for `tests.builders.model_server`."""
    system, asked = body["messages"][0]["content"], body["messages"][1]["content"]
    offered = [each["function"]["name"] for each in body.get("tools", ())]
    if offered:
        return _next_call(system, asked, offered, sum(each["role"] == "tool" for each in body["messages"]))
    if "response_format" not in body:
        return f"Done: {asked.partition('Proposal: ')[2]}"
    if "queue" in body["response_format"]["json_schema"]["schema"]["properties"]:
        queue = "billing" if any(word in asked for word in ("cancel", "charge", "payments", "402")) else "technical"
        if "incident log" not in system and "refund" in asked:
            queue = "billing"
        return json.dumps({"reason": "by its words", "queue": queue})
    action = "refund" if "billing desk" in system else "steps"
    return json.dumps({"reason": "by the desk", "action": action, "amount": 6.0, "note": "As asked."})


def _next_call(system: str, asked: str, offered: list[str], done: int) -> Said:
    """One tool after the other; under a prompt that says that one call is enough, only the first."""
    wanted = offered[:1] if "one call is enough" in system else offered
    if done == len(wanted):
        return f"not documented: {asked}"
    return [(wanted[done], {"query": asked} if wanted[done].startswith("search") else {})]
