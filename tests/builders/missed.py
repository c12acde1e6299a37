"""One miss and what explains it: by default a supervisor's request under the recorded prompt, in a trial on tape."""

import json
from typing import Any

from evals.cassettes.calls_and_misses import MissRecord, nearest
from evals.cassettes.cassette_data import Interaction, texts_of
from evals.models.trace import Miss, Trace
from evals.recording.miss_causes import IssueText, MissEvidence
from evals.triage.variant_prompts import PromptFile
from tests.builders.interaction import CHAT, a_cassette, a_chat_request, an_interaction, messages
from tests.builders.trace import a_trace

SYSTEM = "You lead a team.\nName who acts next.\nAsk the critic at most once.\nNever guess."
CONTEXT = "## Current state\nIteration: 1 / 10\n\n## Findings so far\nNo findings yet."
PROMPT = PromptFile("prompts/v9.md", ("---", "version: v9", "---", *SYSTEM.splitlines()), "v9")
CRITIC = PromptFile("prompts/critic.md", ("You check findings.", "<!-- human -->", "## Hypothesis", "{hypothesis}"))
ISSUE = IssueText("cases/wrong-sum/issue.md", ("The sum is wrong", "", "Two books cost as much as one."))


def a_request(system: str = SYSTEM, words: str = CONTEXT, **more: Any) -> dict[str, Any]:
    """A request as the team makes it."""
    return a_chat_request(messages=messages(system, words), **more)


def a_recorded(request: dict[str, Any] | None = None, agent: str = "supervisor") -> Interaction:
    """An interaction on tape."""
    return an_interaction(agent=agent, request=request or a_request())


def evidence(
    asked: dict[str, Any], *tape: Interaction, agent: str = "supervisor", trace: Trace | None = None, **more: Any
) -> MissEvidence:
    """What is known of a miss: `asked` against `tape`; further fields of `Evidence` replace the defaults."""
    body = json.dumps(asked, separators=(",", ":")).encode()
    cassette = a_cassette(*tape) if tape else None
    near = nearest(MissRecord("k", 0, agent, "POST", CHAT, "", body), cassette) if cassette else None
    miss = Miss(
        key="k", agent=agent, method="POST", path=CHAT, model="small", decision=0, characters=len(body), nearest=near
    )
    fields: dict[str, Any] = {
        "trace": trace or a_trace("investigator", provenance="frontier", frontier=1, decisions=(), misses=(miss,)),
        "miss": miss,
        "recorded": cassette.exact(near.key, 0) if cassette and near else None,
        "tape": "\n".join(text for found in tape for text in texts_of(found.request)),
        "walked": frozenset(),
        "frozen": False,
        "issue": ISSUE,
        "prompt": PROMPT,
        "workers": (CRITIC,),
        "versions": {},
        "router": "supervisor",
    }
    return MissEvidence(**{**fields, **more})
