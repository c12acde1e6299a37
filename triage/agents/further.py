"""What a further search is told, so that it does not find the same again: what was read, what was named, what is open.

A first search is told nothing of this: its request depends on the issue, the repository and the query alone, so that
one recording of it serves every way a job may go on. The supervisor's reasoning is left out as well: it differs with
every version of its prompt, and a worker's answer would then be good for that version only.
"""

from collections.abc import Sequence

from triage.findings import NONE_IDENTIFIED, NOT_IDENTIFIED
from triage.state import BugTriageState, Worker


def gaps_of(state: BugTriageState) -> tuple[str, ...]:
    """What the latest review asks for; an approval has nothing left to ask for."""
    return state.critic_feedback.required_evidence if state.critic_feedback else ()


def named_before(state: BugTriageState, agent: Worker) -> list[str]:
    """What the agent's newest finding blames, as something to keep to unless there is a reason not to."""
    details = next((found.details for found in reversed(state.findings) if found.agent_name == agent), NOT_IDENTIFIED)
    if details in (NOT_IDENTIFIED, NONE_IDENTIFIED):
        return ["Nothing was found to blame then."]
    return [f"Blamed then: {details}. Keep to that unless what follows says otherwise."]


def once(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines without repeats, in order."""
    return tuple(dict.fromkeys(lines))
