"""Guard sets by name."""

from dataclasses import replace
from typing import Final

from triage.agent_registry import call_counts, flagged_agents, missing_data, provider_of
from triage.errors import ConfigurationError
from triage.guards.guards import HARDENED, Guard, GuardSet, confidence_floor, report_before_end, veto
from triage.state import MAX_QUESTIONS, BugTriageState, ConfidenceFloor, Node, Veto, Worker


def investigator_first(state: BugTriageState, choice: Node) -> Veto | None:
    """At iteration 0 only the investigator may act."""
    if state.iterations == 0 and choice != "investigator":
        return veto("investigator_first", state, choice, "investigator")
    return None


def question_limit(state: BugTriageState, choice: Node) -> Veto | None:
    """A user is asked twice at most; after that the code has to answer."""
    if len(state.human_exchanges) >= MAX_QUESTIONS and choice == "human_input":
        return veto("question_limit", state, choice, "codebase_search")
    return None


def iteration_limit(state: BugTriageState, choice: Node) -> Veto | None:
    """A spent budget sends the job to the writer."""
    if state.iterations >= state.max_iterations:
        return veto("iteration_limit", state, choice, "writer")
    return None


def critic_gate(state: BugTriageState, choice: Node) -> Veto | None:
    """While the critic's last word is REJECTED the writer has to wait."""
    rejected = state.critic_feedback is not None and state.critic_feedback.verdict == "REJECTED"
    if rejected and choice == "writer":
        return veto("critic_gate", state, choice, "investigator")
    return None


PRD: Final[tuple[Guard, ...]] = (
    investigator_first,
    question_limit,
    iteration_limit,
    report_before_end,
    critic_gate,
)
"""The guards exactly as PRD-003-2 §6 gives them, order and faults included, so that the faults can be measured."""


FRESH: Final[tuple[Worker, ...]] = ("codebase_search", "web_search", "critic")


def requires_met(state: BugTriageState, choice: Node) -> Veto | None:
    """An agent whose required data is missing gives way to the one that provides it, while that one is not flagged."""
    missing = [] if choice == "end" else missing_data(state, choice)
    providers = [provider for data in missing if (provider := provider_of(data))]
    able = [provider for provider in providers if provider not in flagged_agents(state)]
    return veto("requires_met", state, choice, able[0]) if able else None


def loop_guard(state: BugTriageState, choice: Node) -> Veto | None:
    """A flagged agent is not called again: the first check that has not run yet, else the writer, else the end."""
    flagged = flagged_agents(state)
    if choice not in flagged:
        return None
    called = call_counts(state)
    fresh = next((name for name in FRESH if name not in called and not missing_data(state, name)), None)
    done = state.report is not None or "writer" in flagged
    return veto("loop_guard", state, choice, "end" if done else fresh or "writer")


REGISTRY_GUARDS: Final[tuple[Guard, ...]] = (requires_met, loop_guard)


SETS: Final[dict[str, GuardSet]] = {
    "none": GuardSet("none", (), drops_overruled_question=False, writer_ends=False),
    "prd": GuardSet("prd", PRD, drops_overruled_question=False, writer_ends=False),
    "hardened": GuardSet("hardened", HARDENED),
    **{
        f"hardened-without-{left_out.__name__}": GuardSet(
            f"hardened-without-{left_out.__name__}",
            tuple(guard for guard in HARDENED if guard is not left_out),
        )
        for left_out in HARDENED
    },
}


OWN: Final[dict[str, tuple[Guard, ...]]] = {"registry": REGISTRY_GUARDS}
"""Guards that belong to one supervisor. They come with every set but `none`, and speak last."""


def guard_set(name: str, floor: ConfidenceFloor | None = None, supervisor: str = "llm") -> GuardSet:
    """The set called `name` as it is for `supervisor`, with the thresholds of `floor` enforced as well if one is given.

    Raises:
        ConfigurationError: no set of that name.
    """
    if name not in SETS:
        raise ConfigurationError(f"no guard set is called {name!r}; choose one of {', '.join(SETS)}")
    chosen = SETS[name]
    if name != "none":
        chosen = replace(chosen, guards=(*chosen.guards, *OWN.get(supervisor, ())))
    return chosen if floor is None else replace(chosen, guards=_with_floor(chosen.guards, confidence_floor(floor)))


def _with_floor(guards: tuple[Guard, ...], floor: Guard) -> tuple[Guard, ...]:
    """The floor stands before the set's own `report_before_end`, or `end` would slip under it."""
    last = tuple(guard for guard in guards if guard.__name__ == report_before_end.__name__)
    return (*(guard for guard in guards if guard not in last), floor, *last)
