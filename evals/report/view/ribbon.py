"""A route as a row of letters, one per visit, with the place where it leaves the nearest exemplar marked."""

from functools import cache
from typing import Final, NamedTuple

from evals.models.route import RouteNode
from evals.models.run import Trial

LETTERS: Final[dict[RouteNode, str]] = {
    "investigator": "I",
    "codebase_search": "C",
    "web_search": "W",
    "critic": "K",
    "human_input": "H",
    "writer": "Wr",
}


class Stop(NamedTuple):
    """One visit. `beside`: it ran at the same time as the one before."""

    node: str
    letter: str
    label: str
    diverges: bool
    broken: bool
    beside: bool


class Ribbon(NamedTuple):
    """A route; `spoken` says it in words, `ended_early` that it stopped where the exemplar goes on."""

    stops: tuple[Stop, ...]
    spoken: str
    ended_early: bool

    @property
    def text(self) -> str:
        """In a few characters, as in `I C+W K! Wr^`: + beside, ! failed, ^ leaves the exemplar, ⊣ ends early."""
        stops = (
            ("+" if stop.beside else " ") + stop.letter + "!" * stop.broken + "^" * stop.diverges for stop in self.stops
        )
        return ("".join(stops) + " ⊣" * self.ended_early).strip() or "no visit"


def ribbon(trial: Trial) -> Ribbon:
    """The route of a trial as far as it is known; what a plan reviews stands in its steps."""
    visits, mark = trial.trace.steps, trial.first_divergence
    stops = tuple(
        _stop(
            visit.node,
            diverges=i == mark,
            broken=visit.error is not None,
            beside=i > 0 and visits[i - 1].superstep == visit.superstep,
        )
        for i, visit in enumerate(visits)
    )
    spoken = ", ".join(stop.label for stop in stops) or "no visit"
    return Ribbon(stops, spoken, ended_early=mark is not None and mark >= len(stops))


@cache  # of few kinds, however many visits there are
def _stop(node: RouteNode, *, diverges: bool, broken: bool, beside: bool) -> Stop:
    """A visit and what is to be said of it."""
    label = f"{node}{' beside it' * beside}{', failed' * broken}{', leaves the exemplar here' * diverges}"
    return Stop(node, LETTERS[node], label, diverges, broken, beside)


def plain_ribbon(route: tuple[RouteNode, ...]) -> Ribbon:
    """An exemplar: nothing in it can go wrong."""
    stops = tuple(_stop(node, diverges=False, broken=False, beside=False) for node in route)
    return Ribbon(stops, ", ".join(route), ended_early=False)
