"""What the rules read out of a state: the draft, the places named for the root cause, the files cited, the review.

A *draft* is the newest answer of a search. The investigator has read no code: what it names is a guess to be checked,
so it is neither a draft nor a voice on where the fault is. Everything here is derived from the state, nothing counted
on the side, so a frozen state and one in flight are read alike.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from triage.findings import NONE_IDENTIFIED, NOT_IDENTIFIED
from triage.state import AgentFinding, BugTriageState, CriticVerdict, Worker

OUTSIDE: Final = "outside this repository"
"""The place a web search names: some library, platform or service."""
SEARCHES: Final[tuple[Worker, ...]] = ("codebase_search", "web_search")
MAX_FAILURES: Final = 2
_PATH: Final = re.compile(r"[\w./-]+")
_REPEATED_VERDICT: Final = "Verdict: "
"""How a review's details begin where it has no hypothesis of its own."""


def found_by(state: BugTriageState, *agents: Worker) -> list[AgentFinding]:
    """The findings of these agents, oldest first."""
    return [finding for finding in state.findings if finding.agent_name in agents]


def fruitless(state: BugTriageState, agent: Worker) -> int:
    """Visits of the agent that brought nothing, whether they failed or just said nothing."""
    failed = sum(error.agent_name == agent for error in state.agent_errors)
    return max(failed, state.visits.count(agent) - len(found_by(state, agent)))


def given_up(state: BugTriageState, agent: Worker) -> bool:
    """An agent that brought nothing twice is not asked again."""
    return fruitless(state, agent) >= MAX_FAILURES


def this_round(state: BugTriageState) -> list[AgentFinding]:
    """What was found since the newest investigation: an answer of the user starts a new round."""
    begun = [n for n, finding in enumerate(state.findings) if finding.agent_name == "investigator"]
    return state.findings[begun[-1] + 1 :] if begun else state.findings


def draft_of(state: BugTriageState) -> AgentFinding | None:
    """The newest answer of a search, whichever round it is from."""
    drafts = found_by(state, *SEARCHES)
    return drafts[-1] if drafts else None


def binding_review(state: BugTriageState) -> CriticVerdict | None:
    """The critic's verdict while nothing has landed since: what came later it has not seen."""
    verdict = state.critic_feedback
    if verdict is None or len(state.findings) + len(state.human_exchanges) > verdict.evidence_seen:
        return None
    return verdict


def places(state: BugTriageState, paths: frozenset[str]) -> list[str]:
    """Where the fault is, one entry per voice of this round that names a place, newest last.

    Voices are the searches, and a critic that has a better hypothesis. A place is a file (functions of one file are
    one place) or `OUTSIDE`.
    """
    return [place for finding in this_round(state) if (place := _place(finding, paths))]


def cited_files(finding: AgentFinding | None) -> list[str]:
    """The files a codebase search rests on, its root cause's first; other findings cite none."""
    if finding is None or finding.agent_name != "codebase_search":
        return []
    located = file_of(finding.details)
    named = [*([located] if _looks_like_a_path(located) else []), *map(file_of, finding.relevant_files)]
    return list(dict.fromkeys(named))


def file_of(location: str) -> str:
    """The file in `path`, `path:12` or `path::function`, without quotes and `./`; empty where none is identified."""
    if location == NOT_IDENTIFIED:
        return ""
    return location.strip(" `'\"").split(":")[0].strip(" `'\"").removeprefix("./")


def settled(named: Sequence[str]) -> bool:
    """The place named last is settled once more than half of the voices name it; where nobody names any, nobody
    disagrees."""
    return not named or 2 * named.count(named[-1]) > len(named)


def _place(finding: AgentFinding, paths: frozenset[str]) -> str:
    match finding.agent_name:
        case "codebase_search":
            return file_of(finding.details)
        case "web_search":
            return "" if finding.details == NONE_IDENTIFIED else OUTSIDE
        case "critic" if not finding.details.startswith(_REPEATED_VERDICT):
            return next(_known(finding.details, paths), "")
        case _:
            return ""


def _known(text: str, paths: frozenset[str]) -> Iterator[str]:
    """The repository's files that a text names, in order."""
    return (word for found in _PATH.findall(text) if (word := found.rstrip(".").removeprefix("./")) in paths)


def _looks_like_a_path(text: str) -> bool:
    """A location may be words ("the cart"), which is vague but cites nothing."""
    return bool(text) and " " not in text and ("/" in text or "." in text)
