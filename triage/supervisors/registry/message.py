"""What the registry supervisor is told of a job: which data there is, who was called, and who is flagged.

It depends on state and prompt alone, so the same state gives the same request. No finding is shown: this supervisor
decides by what is there, not by what it says.
"""

import json
from typing import Final

from triage.prompts import SupervisorPrompt
from triage.registry import available_data, call_counts, flagged_agents, recent_history
from triage.state import BugTriageState

NOBODY: Final = "none"


def message(state: BugTriageState, prompt: SupervisorPrompt) -> str:
    """The human message: the task, operator's orders if any, the state, the flags, and what to reply."""
    sections = [
        f'## Task\nTriage the bug report "{state.issue_title}" until its report is written.',
        _orders(state.redirect_instructions),
        _current(state),
        f"## Flagged agents\n{', '.join(flagged_agents(state)) or NOBODY}",
        prompt.task,
    ]
    return "\n\n".join(section for section in sections if section)


def _current(state: BugTriageState) -> str:
    return (
        "## Current state\n"
        f"Available data: {json.dumps(available_data(state))}\n"
        f"Last agents called: {json.dumps(list(recent_history(state)))}\n"
        f"Calls so far: {json.dumps(call_counts(state))}"
    )


def _orders(instructions: list[str]) -> str:
    lines = [f"{n}. {text}" for n, text in enumerate(instructions, 1)]
    return "\n".join(["## Orders of the operator (follow these first)", *lines]) if lines else ""
