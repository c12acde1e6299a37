"""The decision: an ordered tuple of rules, of which the first that applies has its say (seed 001).

    report written, or the writer failed twice            end
    nobody has investigated (since the user answered)     investigator     first run
    the code was not searched (since then)                codebase_search  first run
    the draft was never reviewed, and is not very sure    critic           first run
    nothing speaks against the draft                      writer           finalize
    something does, and a search may still help           the search       retry
    something does, and nobody was asked yet              human_input      HITL triggered
    otherwise                                             writer           finalize

Pure functions of the state, the repository's files and the settings. Every rule but the last leaves a trace in the
state that keeps it from applying for ever: a finding, a failure, a retry, an answer, a report.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from triage.configuration import RulesSettings
from triage.state import BugTriageState, HumanExchange, Node, RetryReason, SearchScope, Worker
from triage.supervisors.rules.evidence import draft_of, found_by, fruitless, given_up, places, this_round
from triage.supervisors.rules.questions import question
from triage.supervisors.rules.signals import Signals, signals_of
from triage.supervisors.rules.widen import first_scope, wider_scope

Decision = Literal["first_run", "retry", "finalize", "HITL_triggered"]


@dataclass(frozen=True)
class Situation:
    """All a rule may look at."""

    state: BugTriageState
    paths: frozenset[str]
    settings: RulesSettings
    signals: Signals


@dataclass(frozen=True)
class Choice:
    """Who acts next, as what kind of decision, why, and what goes with it."""

    node: Node
    decision: Decision
    reason: str
    scope: SearchScope | None = None
    retry: RetryReason | None = None
    question: HumanExchange | None = None


Rule = Callable[[Situation], Choice | None]


def decide(state: BugTriageState, paths: frozenset[str], settings: RulesSettings) -> tuple[Choice, Signals]:
    """The choice in this state about a repository with these files, and the signals it rests on."""
    here = Situation(state, paths, settings, signals_of(state, paths, settings))
    choice = next(choice for rule in RULES if (choice := rule(here)))
    return choice, here.signals


def over(here: Situation) -> Choice | None:
    """With the report written, or a writer that cannot write it, nothing is left to do."""
    if here.state.report is not None:
        return Choice("end", "finalize", "report_written")
    return Choice("end", "finalize", "writer_failed") if given_up(here.state, "writer") else None


def investigate(here: Situation) -> Choice | None:
    """The first thing in a job, and the first after an answer: it alone reads what the user said."""
    answered = sum(exchange.answer is not None for exchange in here.state.human_exchanges)
    if given_up(here.state, "investigator") or len(found_by(here.state, "investigator")) > answered:
        return None
    return Choice("investigator", "first_run", "user_answered" if answered else "nothing_known")


def search(here: Situation) -> Choice | None:
    """A new hypothesis is looked up in the code."""
    searched = any(finding.agent_name == "codebase_search" for finding in this_round(here.state))
    if searched or given_up(here.state, "codebase_search"):
        return None
    return Choice("codebase_search", "first_run", "no_draft", scope=first_scope(here.settings))


def review(here: Situation) -> Choice | None:
    """One review per job, of a draft that is not sure enough to do without."""
    state = here.state
    reviewed = state.critic_feedback is not None or bool(found_by(state, "critic"))
    sure = here.signals.confidence >= here.settings.review_below
    if reviewed or sure or draft_of(state) is None or given_up(state, "critic"):
        return None
    return Choice("critic", "first_run", "no_review")


def finalize(here: Situation) -> Choice | None:
    """A draft that nothing speaks against goes to the report."""
    return Choice("writer", "finalize", "no_issue") if here.signals.reason is None else None


def retry(here: Situation) -> Choice | None:
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
    return Choice(target, "retry", reason, scope=wider if target == "codebase_search" else None, retry=logged)


def escalate(here: Situation) -> Choice | None:
    """Once in a job the user is asked, in words that fit what is wrong."""
    if here.state.human_exchanges or here.signals.reason is None:
        return None
    asked = question(here.state, here.signals)
    return Choice("human_input", "HITL_triggered", here.signals.reason, question=asked)


def make_do(_here: Situation) -> Choice:
    """Searched again and asked: the report is written from what there is."""
    return Choice("writer", "finalize", "all_means_spent")


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
