"""The rules supervisor: ordered rules, retries before questions (seed 001)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from triage.findings import asks
from triage.graph_configuration import Configuration, RulesSettings
from triage.state import BugTriageState, DecisionEvent, HumanExchange, Node, RetryReason, SearchScope, Worker
from triage.supervisors.rules.rules_signals import (
    OUTSIDE,
    Signals,
    binding_review,
    draft_of,
    file_of,
    found_by,
    fruitless,
    given_up,
    invented,
    places,
    signals_of,
    this_round,
)
from triage.supervisors.supervisor import Supervise, Tools

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


_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def wider_scope(
    state: BugTriageState, signals: Signals, paths: frozenset[str], settings: RulesSettings, retry: int
) -> SearchScope:
    """The search of the `retry`-th retry, counting from 1: as many chunks again, and what it is to settle."""
    return SearchScope(
        chunks=settings.chunks * (1 + retry),
        min_score=settings.min_score,
        keywords=tuple(_keywords(state, signals)),
        instructions=tuple(_instructions(state, signals, paths)),
    )


def _keywords(state: BugTriageState, signals: Signals) -> list[str]:
    """Of each side of a conflict its file, its module's name, and the functions that were named in it."""
    words: list[str] = []
    for side in signals.sides:
        if side != OUTSIDE:
            words += [side, PurePosixPath(side).stem, *_functions(state, side)]
    return list(dict.fromkeys(words))


def _functions(state: BugTriageState, side: str) -> list[str]:
    named = [found.details.partition("::")[2] for found in this_round(state) if file_of(found.details) == side]
    return [word for text in named for word in _NAME.findall(text)]


def _instructions(state: BugTriageState, signals: Signals, paths: frozenset[str]) -> list[str]:
    """What the worker is told to do differently; one line for each thing that is wrong."""
    review = binding_review(state)
    made_up, gaps = invented(state, paths), review.required_evidence if review else ()
    lines = [f"{path} is not in the repository: name only files that the snippets show." for path in made_up]
    lines += asks(gaps)
    if signals.sides:
        lines.append(f"The fault was placed in {' and in '.join(signals.sides)}: judge by the code which it is.")
    return [*lines, "An earlier search was not conclusive: look beyond the first match."]


Decision = Literal["first_run", "retry", "finalize", "HITL_triggered"]


@dataclass(frozen=True)
class Situation:
    """All a rule may look at."""

    state: BugTriageState
    paths: frozenset[str]
    settings: RulesSettings
    signals: Signals


@dataclass(frozen=True)
class RulesChoice:
    """Who acts next, as what kind of decision, why, and what goes with it."""

    node: Node
    decision: Decision
    reason: str
    scope: SearchScope | None = None
    retry: RetryReason | None = None
    question: HumanExchange | None = None


Rule = Callable[[Situation], RulesChoice | None]


def decide(state: BugTriageState, paths: frozenset[str], settings: RulesSettings) -> tuple[RulesChoice, Signals]:
    """The choice in this state about a repository with these files, and the signals it rests on."""
    here = Situation(state, paths, settings, signals_of(state, paths, settings))
    choice = next(choice for rule in RULES if (choice := rule(here)))
    return choice, here.signals


def over(here: Situation) -> RulesChoice | None:
    """With the report written, or a writer that cannot write it, nothing is left to do."""
    if here.state.report is not None:
        return RulesChoice("end", "finalize", "report_written")
    return RulesChoice("end", "finalize", "writer_failed") if given_up(here.state, "writer") else None


def investigate(here: Situation) -> RulesChoice | None:
    """The first thing in a job, and the first after an answer: it alone reads what the user said."""
    answered = sum(exchange.answer is not None for exchange in here.state.human_exchanges)
    if given_up(here.state, "investigator") or len(found_by(here.state, "investigator")) > answered:
        return None
    return RulesChoice("investigator", "first_run", "user_answered" if answered else "nothing_known")


def search(here: Situation) -> RulesChoice | None:
    """A new hypothesis is looked up in the code."""
    searched = any(finding.agent_name == "codebase_search" for finding in this_round(here.state))
    if searched or given_up(here.state, "codebase_search"):
        return None
    scope = SearchScope(chunks=here.settings.chunks, min_score=here.settings.min_score)  # no wider than anybody's
    return RulesChoice("codebase_search", "first_run", "no_draft", scope=scope)


def review(here: Situation) -> RulesChoice | None:
    """One review per job, of a draft that is not sure enough to do without."""
    state = here.state
    reviewed = state.critic_feedback is not None or bool(found_by(state, "critic"))
    sure = here.signals.confidence >= here.settings.review_below
    if reviewed or sure or draft_of(state) is None or given_up(state, "critic"):
        return None
    return RulesChoice("critic", "first_run", "no_review")


def finalize(here: Situation) -> RulesChoice | None:
    """A draft that nothing speaks against goes to the report."""
    return RulesChoice("writer", "finalize", "no_issue") if here.signals.reason is None else None


def retry(here: Situation) -> RulesChoice | None:
    """Whatever is wrong, another search is tried before anybody is asked."""
    done, reason = len(here.state.retry_reasons), here.signals.reason
    target = _target(here)
    if reason is None or target is None or done >= here.settings.retries:
        return None
    logged = RetryReason(
        iteration=done + 1,
        confidence=here.signals.confidence,
        reason=reason,
        citation_issue=here.signals.citation_issue,
        hallucination=here.signals.hallucination,
        over_compression=here.signals.over_compression,
    )
    wider = wider_scope(here.state, here.signals, here.paths, here.settings, done + 1)
    return RulesChoice(target, "retry", reason, scope=wider if target == "codebase_search" else None, retry=logged)


def escalate(here: Situation) -> RulesChoice | None:
    """Once in a job the user is asked, in words that fit what is wrong."""
    if here.state.human_exchanges or here.signals.reason is None:
        return None
    asked = question(here.state, here.signals)
    return RulesChoice("human_input", "HITL_triggered", here.signals.reason, question=asked)


def make_do(_here: Situation) -> RulesChoice:
    """Searched again and asked: the report is written from what there is."""
    return RulesChoice("writer", "finalize", "all_means_spent")


RULES: Final[tuple[Rule, ...]] = (over, investigate, search, review, finalize, retry, escalate, make_do)


def _target(here: Situation) -> Worker | None:
    """Where a retry looks: in the code, wider; once that names no place either, outside; None if nowhere is left."""
    state = here.state
    sourceless = state.retrieval is not None and state.retrieval.searched == 0
    code = not sourceless and not given_up(state, "codebase_search")
    outside = not found_by(state, "web_search") and not fruitless(state, "web_search")
    placeless = bool(state.retry_reasons) and not places(state, here.paths)
    if outside and (placeless or not code):
        return "web_search"
    return "codebase_search" if code else None


def supervisor(configuration: Configuration, toolbox: Tools) -> Supervise:
    """The rules with the settings of `configuration`; citations are checked against the repository's index."""
    settings = configuration.rules

    async def supervise(state: BugTriageState) -> dict[str, Any]:
        """Decide; the same state always gives the same update."""
        paths = toolbox.index_of(state.repository).paths
        return update_of(state, *decide(state, paths, settings), settings)

    return supervise


def update_of(state: BugTriageState, choice: RulesChoice, signals: Signals, settings: RulesSettings) -> dict[str, Any]:
    """The state update: the choice, its event, and what the chosen agent needs; the scope of older searches goes."""
    retries = len(state.retry_reasons) + (choice.retry is not None)
    event = DecisionEvent(
        decision=choice.decision, confidence=signals.confidence, retry_count=retries, reason=choice.reason
    )
    update: dict[str, Any] = {
        "next_node": choice.node,
        "supervisor_reasoning": _reasoning(event, settings),
        "supervisor_confidence": signals.confidence,
        "forced_fallback": False,
        "corrections": 0,
        "briefing": briefing(signals),
        "decision_events": [event],
        "retry_reasons": [choice.retry] if choice.retry else [],
        "search_scope": choice.scope,
    }
    if choice.question is not None:
        update |= {"pending_exchange": choice.question, "awaiting_human": True}
    return update


def briefing(signals: Signals) -> str:
    """What the rules saw, for whoever reads the job afterwards."""
    yes = {True: "yes", False: "no"}
    return "\n".join(
        [
            f"Confidence: {signals.confidence:.0%}",
            f"Low confidence: {yes[signals.low_confidence]}",
            f"Citation issue: {yes[signals.citation_issue]}",
            f"Hallucination flag: {yes[signals.hallucination]}",
            f"Critic asks for a retry: {yes[signals.critic_retry]}",
            f"Conflict: {' against '.join(signals.sides) or 'none'}",
            f"Nothing retrieved: {signals.nothing or 'no'}",
        ]
    )


def _reasoning(event: DecisionEvent, settings: RulesSettings) -> str:
    """One line: the decision, its reason, and the numbers it was made on."""
    return (
        f"{event.decision}, {event.reason.replace('_', ' ')}: confidence {event.confidence:.0%} against a bar of "
        f"{settings.low_confidence:.0%}, {event.retry_count} of {settings.retries} retries used."
    )
