"""Registry of scorers: those of the pack and the ready-made ones, in the order of the report."""

from collections import Counter
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from evals.errors import ConfigurationError
from evals.models.run import ScorerInfo
from evals.pack import load_pack
from evals.scoring import cost_scorers, route_scorers
from evals.scoring.scorer import Scorer

if TYPE_CHECKING:
    from evals.pack import Pack

READY_MADE: Final[tuple[Scorer, ...]] = (*route_scorers.SCORERS, *cost_scorers.SCORERS)
"""Scorers that need nothing but the core's own fields of a case and a trace."""


@cache
def scorers(pack: "Pack | None" = None) -> tuple[Scorer, ...]:
    """The scorers of a pack (of the default one if none is given): those that its modules list as `SCORERS`, in that
    order, then the ready-made ones that they do not list.

    Raises:
        ConfigurationError: a module cannot be imported or has no `SCORERS`, or two scorers have one name.
    """
    pack = pack or load_pack()
    listed = tuple(scorer for name in pack.scorers for scorer in _scorers_in(name))
    found = (*listed, *(scorer for scorer in READY_MADE if scorer not in listed))
    name, times = Counter(scorer.name for scorer in found).most_common(1)[0]
    if times > 1:
        raise ConfigurationError(f"{times} scorers are called {name}; rename all but one")
    return found


def _scorers_in(module: str) -> tuple[Scorer, ...]:
    try:
        listed: tuple[Scorer, ...] = import_module(module).SCORERS
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"scorers of the pack: {error}; {module} needs a tuple SCORERS") from error
    return listed


def safety_metrics(pack: "Pack | None" = None) -> tuple[str, ...]:
    """The metrics that are never to be 0. Raises ConfigurationError as `scorers` does."""
    return tuple(scorer.name for scorer in scorers(pack) if scorer.safety)


@cache
def scorer_infos(pack: "Pack | None" = None) -> tuple[ScorerInfo, ...]:
    """The scorers as the report explains them. Raises ConfigurationError as `scorers` does."""
    return tuple(
        ScorerInfo(
            name=scorer.name,
            unit=scorer.unit,
            better=scorer.better,
            primary=scorer.primary,
            open_loop=scorer.open_loop,
            macro=scorer.macro,
            definition=scorer.definition,
        )
        for scorer in scorers(pack)
    )
