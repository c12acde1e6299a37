"""Which turn of which agent made each call of a trial, as far as a trace tells.

A trace keeps calls in the order of supersteps, but not whose they are beyond the agent's name. Mostly that is enough:
two turns of one agent have another agent's calls between them, and the supervisor `llm` asks once for a decision and
once for each correction. Where it is not, a call is nobody's, not somebody's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from evals.models.trace import Call, Decision, Trace, Visit

SUPERVISOR: Final = "supervisor"
Calls = tuple[tuple[int, Call], ...]
"""Calls with their places among all of the trial."""


@dataclass(frozen=True)
class Turn:
    """One visit of a worker or one decision of the supervisor; `number` counts its kind from 0."""

    number: int
    made: Visit | Decision
    calls: Calls = ()

    @property
    def agent(self) -> str:
        """The agent whose turn it was."""
        return self.made.node if isinstance(self.made, Visit) else SUPERVISOR

    @property
    def path(self) -> str:
        """What names it among all of its trial."""
        return f"{'visit' if isinstance(self.made, Visit) else 'decision'} {self.number}"


@dataclass(frozen=True)
class Step:
    """Turns that ran side by side, and the calls of which the trace does not tell whose turn made them."""

    turns: tuple[Turn, ...]
    loose: Calls = ()


def steps_of(trace: Trace, supervisor: str = "llm") -> tuple[Step, ...]:
    """The trial in order; calls of a step that was cut off by a miss come last, in a step without turns."""
    sides = _sides(trace)
    needs = [_calls_needed(side, supervisor) for side in sides]
    given, left = _dealt(trace.calls, sides, needs)
    steps = tuple(_step(place, sides, given, needs[place]) for place in range(len(sides)))
    return (*steps, Step((), left)) if left else steps


def _sides(trace: Trace) -> list[tuple[Turn, ...]]:
    """A decision comes after as many visits as its iteration says."""
    waiting = [Turn(number, made) for number, made in enumerate(trace.decisions)]
    sides: list[tuple[Turn, ...]] = []
    visits = [Turn(number, made) for number, made in enumerate(trace.visits)]
    for _, side in groupby(visits, key=lambda turn: trace.visits[turn.number].superstep):
        beside = tuple(side)
        while waiting and trace.decisions[waiting[0].number].iteration <= beside[0].number:
            sides.append((waiting.pop(0),))
        sides.append(beside)
    return sides + [(turn,) for turn in waiting]


def _calls_needed(side: tuple[Turn, ...], supervisor: str) -> int | None:
    """How many calls a step takes, where that is known; a decision that needs more than it got was cut off."""
    (made, *others) = [turn.made for turn in side]
    return 1 + made.corrections if isinstance(made, Decision) and supervisor == "llm" and not others else None


def _dealt(
    calls: Sequence[Call], sides: Sequence[tuple[Turn, ...]], needs: Sequence[int | None]
) -> tuple[list[Calls], Calls]:
    """Each call to the first step from the last one on that has a turn of its agent, and room; the rest had none."""
    given: list[Calls] = [() for _ in sides]
    left: Calls = ()
    here = 0
    for numbered in enumerate(calls):
        found = next(
            (
                place
                for place in range(here, len(sides))
                if _has(sides[place], numbered[1].agent) and len(given[place]) != needs[place]
            ),
            None,
        )
        if found is None:
            left += (numbered,)
            continue
        here = found
        given[here] += (numbered,)
    return given, left


def _step(place: int, sides: Sequence[tuple[Turn, ...]], given: Sequence[Calls], needed: int | None) -> Step:
    told = len(given[place]) == needed
    sure = {agent for agent in _agents(given[place]) if told or _is_sure(agent, place, sides, given)}
    turns = tuple(Turn(turn.number, turn.made, _of({turn.agent} & sure, given[place])) for turn in sides[place])
    return Step(turns, _of(_agents(given[place]) - sure, given[place]))


def _is_sure(agent: str, place: int, sides: Sequence[tuple[Turn, ...]], given: Sequence[Calls]) -> bool:
    """Whether one turn alone can have made the agent's calls: no other beside it, and none that follows without a call
    of anybody else in between."""
    if sum(turn.agent == agent for turn in sides[place]) != 1:
        return False
    for later in range(place + 1, len(sides)):
        if _has(sides[later], agent) and agent not in _agents(given[later]):
            return False
        if given[later]:
            return True
    return True


def _has(side: tuple[Turn, ...], agent: str) -> bool:
    return any(turn.agent == agent for turn in side)


def _agents(calls: Calls) -> set[str]:
    return {call.agent for _, call in calls}


def _of(agents: set[str], calls: Calls) -> Calls:
    return tuple(numbered for numbered in calls if numbered[1].agent in agents)
