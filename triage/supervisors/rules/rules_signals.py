"""Signals of the rules supervisor: evidence and quality of a draft."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from triage.findings import NONE_IDENTIFIED, NOT_IDENTIFIED
from triage.graph_configuration import RulesSettings
from triage.state import AgentFinding, BugTriageState, CriticVerdict, RetryReason, Worker

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


Reason = Literal[
    "nothing_retrieved", "hallucination", "citation_issue", "critic_retry", "low_confidence", "conflicting_locations"
]


@dataclass(frozen=True)
class Signals:
    """How a state stands. `sides` are the places in conflict (empty: none), `nothing` why the search read no code.

    `over_compression`: the search read code and names files, but none of the code it read stands behind them, so that
    a review has nothing to check. It is told with every retry, and is no reason for one: frozen states, on which
    decisions are compared, do not hold the code.
    """

    confidence: float
    low_confidence: bool
    citation_issue: bool
    hallucination: bool
    critic_retry: bool
    over_compression: bool = False
    sides: tuple[str, ...] = ()
    nothing: Literal["empty", "filtered"] | None = None

    @property
    def reason(self) -> Reason | None:
        """The first thing that is wrong, any one of them being enough; None if nothing is."""
        return next((reason for reason, holds in REASONS if holds(self)), None)


# A conflict comes last: it is a reason of its own only where nothing else explains the disagreement.
REASONS: Final[tuple[tuple[Reason, Callable[[Signals], bool]], ...]] = (
    ("nothing_retrieved", lambda signals: signals.nothing is not None),
    ("hallucination", lambda signals: signals.hallucination),
    ("citation_issue", lambda signals: signals.citation_issue),
    ("critic_retry", lambda signals: signals.critic_retry),
    ("low_confidence", lambda signals: signals.low_confidence),
    ("conflicting_locations", lambda signals: bool(signals.sides)),
)


RETRY_REASONS: Final = (*(reason for reason, _ in REASONS), "over_compression")
"""What a retry can be looked up by."""


def holds(reason: str, retry: RetryReason) -> bool:
    """Whether a search was repeated for `reason`: its main reason, or a signal that held beside it."""
    return retry.reason == reason or bool(getattr(retry, reason, False))


def signals_of(state: BugTriageState, paths: frozenset[str], settings: RulesSettings) -> Signals:
    """The signals of a state about a repository with these files."""
    review = binding_review(state)
    confidence = confidence_of(state)
    return Signals(
        confidence=confidence,
        low_confidence=confidence < settings.low_confidence,
        citation_issue=bool(invented(state, paths)),
        hallucination=review is not None and review.review == "CHALLENGED",
        critic_retry=review is not None and review.verdict == "REJECTED",
        over_compression=_evidence_lost(state),
        sides=_sides(places(state, paths)),
        nothing=_nothing(state),
    )


def confidence_of(state: BugTriageState) -> float:
    """The draft's confidence, moved by the review that binds it (whose 0.5 means "as it was"); 0 without a draft."""
    draft, review = draft_of(state), binding_review(state)
    if draft is None:
        return 0.0
    moved = draft.confidence + (review.confidence - 0.5 if review else 0.0)
    return round(max(0.0, min(1.0, moved)), 4)


def invented(state: BugTriageState, paths: frozenset[str]) -> list[str]:
    """The files the draft cites that are not in the repository."""
    return [path for path in cited_files(draft_of(state)) if path not in paths]


def _evidence_lost(state: BugTriageState) -> bool:
    read = state.retrieval is not None and state.retrieval.kept > 0
    return read and bool(cited_files(draft_of(state))) and not state.codebase_evidence


def _sides(named: list[str]) -> tuple[str, ...]:
    return () if settled(named) else tuple(dict.fromkeys(named))


def _nothing(state: BugTriageState) -> Literal["empty", "filtered"] | None:
    """Only a draft of the code's own can rest on nothing; a web search does not read code."""
    draft = draft_of(state)
    if draft is None or draft.agent_name != "codebase_search" or state.retrieval is None or state.retrieval.kept:
        return None
    return "filtered" if state.retrieval.searched else "empty"
