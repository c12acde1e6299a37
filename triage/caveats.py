"""What a report has to say of itself: what did not happen on the way to it, read off the job's state.

A *grave* caveat leaves the report without ground to stand on; `triage run` then does not exit with 0.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from triage.state import WORKERS, BugTriageState, Worker

EVIDENCE: Final[tuple[Worker, ...]] = ("investigator", "codebase_search", "web_search")


@dataclass(frozen=True)
class Caveat:
    """One sentence, and whether the report rests on nothing because of it."""

    text: str
    grave: bool = False


def caveats(state: BugTriageState) -> tuple[Caveat, ...]:
    """What did not happen in this job, gravest first."""
    found = [caveat for rule in RULES for caveat in rule(state)]
    return tuple(sorted(found, key=lambda caveat: not caveat.grave))


def no_decision(state: BugTriageState) -> Iterator[Caveat]:
    """The supervisor's model brought nothing to go by, so the report was written from what there was."""
    if state.supervisor_errors:
        error = state.supervisor_errors[-1].error
        yield Caveat(f"The supervisor did not decide on this report: {error}.", grave=True)
    elif state.forced_fallback:
        visits = state.visits.count("writer") and len(state.visits) - 1
        yield Caveat(f"The supervisor gave no valid decision; the writer was forced after {visits} visits.", grave=True)


def no_evidence(state: BugTriageState) -> Iterator[Caveat]:
    """Nobody who looks for a cause has found anything."""
    if not any(_found(state, agent) for agent in EVIDENCE):
        yield Caveat("No agent found anything: the report rests on the issue's title alone.", grave=True)


def code_unread(state: BugTriageState) -> Iterator[Caveat]:
    """Nobody has looked at the code; it is grave where somebody tried."""
    if not _found(state, "codebase_search"):
        tried = bool(_errors(state, "codebase_search"))
        yield Caveat(f"Nobody looked at the code{'' if tried else ': no code search was made'}.", grave=tried)


def failures(state: BugTriageState) -> Iterator[Caveat]:
    """Agents that failed, and never succeeded."""
    for agent in WORKERS:
        errors = _errors(state, agent)
        if errors and agent != "writer" and not _found(state, agent):
            times = "once" if len(errors) == 1 else f"{len(errors)} times"
            yield Caveat(f"{agent} failed {times}: {errors[-1]}")


RULES: Final[tuple[Callable[[BugTriageState], Iterator[Caveat]], ...]] = (
    no_decision,
    no_evidence,
    code_unread,
    failures,
)


def _found(state: BugTriageState, agent: Worker) -> bool:
    return any(finding.agent_name == agent for finding in state.findings)


def _errors(state: BugTriageState, agent: Worker) -> list[str]:
    return [failure.error for failure in state.agent_errors if failure.agent_name == agent]
