"""What the user is asked when searching again no longer helps: what happened, and what would help (seed 001).

Three messages: a conflict nobody could settle, a root cause that stays unproven, and a search that found nothing to
read, which has two causes and so two texts.
"""

from triage.state import BugTriageState, HumanExchange
from triage.supervisors.rules.evidence import draft_of
from triage.supervisors.rules.signals import Signals

OBJECTIONS = {
    "hallucination": "the review doubts that the evidence shows it",
    "citation_issue": "it rests on a file that is not in the repository",
    "critic_retry": "the review found it unproven",
    "low_confidence": "the evidence is thin",
}


def question(state: BugTriageState, signals: Signals) -> HumanExchange:
    """The message for what is wrong here; a search of nothing explains everything after it, a conflict the rest."""
    if signals.nothing is not None:
        return nothing_retrieved(state, signals)
    if signals.sides:
        return unresolved_conflict(state, signals)
    return still_unproven(state, signals)


def unresolved_conflict(state: BugTriageState, signals: Signals) -> HumanExchange:
    """The evidence points to several places, and more of it did not help."""
    options = "; ".join(f"({n}) {side}" for n, side in enumerate(signals.sides, 1))
    return HumanExchange(
        question=(
            f"The evidence disagrees on where the fault is, and {_tries(state)} did not settle it: {options}. Which of "
            "these fits what you see, and why?"
        ),
        context="What you choose is looked into first.",
    )


def still_unproven(state: BugTriageState, signals: Signals) -> HumanExchange:
    """The confidence stays low, or something else is wrong with the draft."""
    draft = draft_of(state)
    guess = draft.summary if draft else "none yet"
    why = OBJECTIONS.get(signals.reason or "", OBJECTIONS["low_confidence"])
    return HumanExchange(
        question=(
            f"After {_tries(state)} the root cause is still uncertain: the confidence is {signals.confidence:.0%}, and "
            f"{why}. Can you describe the problem more exactly, or add what was left out: the full error message, the "
            "version, the input, a log?"
        ),
        context=f"Best guess so far: {guess}",
    )


def nothing_retrieved(state: BugTriageState, signals: Signals) -> HumanExchange:
    """No code was read: either there is none, or none of it resembles the report."""
    if signals.nothing == "empty":
        return HumanExchange(
            question=(
                "There is no source code to search. Where is the code of the part that fails, or which library is it?"
            ),
            context=f"Repository: {state.repository or 'none named'}.",
        )
    searched = state.retrieval.searched if state.retrieval else 0
    return HumanExchange(
        question=(
            "Nothing in the code resembles the report closely enough. Which names would stand in the code: a function, "
            "an option, an endpoint, the exact words of the error?"
        ),
        context=f"{searched} pieces of source were compared, and all were set aside as too far off.",
    )


def _tries(state: BugTriageState) -> str:
    tries = len(state.retry_reasons)
    return f"{tries} further search{'es' * (tries != 1)}"
