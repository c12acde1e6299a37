"""What speaks against a draft: four signals of quality, each sufficient alone, a conflict, and a search of nothing; and
lost evidence (over-compression), which is only told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from triage.configuration import RulesSettings
from triage.state import BugTriageState, RetryReason
from triage.supervisors.rules.evidence import (
    binding_review,
    cited_files,
    draft_of,
    places,
    settled,
)

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
