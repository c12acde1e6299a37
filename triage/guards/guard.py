"""What a guard is, and how an ordered set of them rules on one choice of the supervisor."""

from collections.abc import Callable
from dataclasses import dataclass

from triage.state import BugTriageState, Node, Veto

# Reads the state as the decision left it, and the choice. A Veto settles the matter, even one that sends the graph
# where it was going anyway: then the guards after it have nothing more to say, and nothing is recorded.
Guard = Callable[[BugTriageState, Node], Veto | None]


@dataclass(frozen=True)
class GuardSet:
    """An ordered set of guards by name, with the two habits of the graph that go with it.

    `drops_overruled_question`: a question that will not be asked is taken out of the state.
    `writer_ends`: the job is over after the writer; otherwise the supervisor is asked once more.
    """

    name: str
    guards: tuple[Guard, ...]
    drops_overruled_question: bool = True
    writer_ends: bool = True


@dataclass(frozen=True)
class Ruling:
    """Where the graph goes, and the veto that sent it there (None: the supervisor had its way)."""

    routed: Node
    veto: Veto | None = None


def veto(guard: str, state: BugTriageState, chosen: Node, send_to: Node) -> Veto:
    """The veto of `guard` in this state."""
    return Veto(guard=guard, chosen=chosen, send_to=send_to, iteration=state.iterations)


def rule(guards: tuple[Guard, ...], state: BugTriageState, choice: Node) -> Ruling:
    """The first guard that has something to say decides; without one the choice stands."""
    verdict = next((found for guard in guards if (found := guard(state, choice))), None)
    if verdict is None or verdict.send_to == choice:
        return Ruling(choice)
    return Ruling(verdict.send_to, verdict)
