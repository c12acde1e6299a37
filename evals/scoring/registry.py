"""Registry of scorers: those of the pack and the ready-made ones, in the order of the report."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evals.errors import ConfigurationError, nearest_name
from evals.import_hook import load_file
from evals.models.case import Case
from evals.models.run import ScorerInfo
from evals.pack import load_pack
from evals.scoring import cost_scorers, route_scorers
from evals.scoring.files_read import LOADED, noted
from evals.scoring.scorer import Scorer, place_of

if TYPE_CHECKING:
    from evals.pack import Pack

READY_MADE: Final[tuple[Scorer, ...]] = (*route_scorers.SCORERS, *cost_scorers.SCORERS)
"""Scorers that need nothing but the core's own fields of a case and a trace."""


def scorers(pack: "Pack | None" = None, primary: tuple[str, ...] = ()) -> tuple[Scorer, ...]:
    """The scorers of a pack (of the default one if none is given): those of its modules, in that order, then the
    ready-made ones that they do not list. `primary` names those that decide; none: those that the pack names, else
    those that say so themselves.

    Raises:
        ConfigurationError: a module cannot be imported or has no scorer, two scorers have one name, or a primary one is
            none, or is no fraction of which more is better.
    """
    return _scorers(pack or load_pack(), primary)


@cache
def _scorers(pack: "Pack", primary: tuple[str, ...]) -> tuple[Scorer, ...]:
    listed = dict.fromkeys(scorer for name in pack.scorers for scorer in _scorers_in(name, pack.root))
    found = (*listed, *(scorer for scorer in READY_MADE if scorer not in listed))
    name, times = Counter(scorer.name for scorer in found).most_common(1)[0]
    if times > 1:
        raise ConfigurationError(f"{times} scorers are called {name}; rename all but one")
    if chosen := primary or pack.primary:
        found = _with_primary(found, chosen)
    for scorer in found:
        if scorer.macro and scorer.name != route_scorers.decision_score.name:
            raise ConfigurationError(f"{scorer.name} cannot be macro: only decision.score is, of decision points")
        if scorer.primary and (scorer.unit, scorer.better) != ("fraction", "higher"):
            raise ConfigurationError(
                f"{scorer.name} cannot be primary: it must be a fraction of which more is better; give a share of 1"
            )
    return found


def _with_primary(found: Sequence[Scorer], chosen: Sequence[str]) -> tuple[Scorer, ...]:
    known = [scorer.name for scorer in found]
    for name in chosen:
        if name not in known:
            hint = nearest_name(name, known) or f"; there are {', '.join(known)}"
            raise ConfigurationError(f"primary: there is no metric {name!r}{hint}")
    return tuple(replace(scorer, primary=scorer.name in chosen) for scorer in found)


def _scorers_in(name: str, root: Path) -> Sequence[Scorer]:
    """Of a module, by its dotted name or by its file below `root`: those under `SCORERS`, else all that it has."""
    if name.partition(".")[0] != "evals" and str(root) not in sys.path:
        sys.path.append(str(root))  # a module of the project may import others of it
    try:
        with noted(LOADED, own=name.partition(".")[0] != "evals"):
            module = load_file((root / name).resolve()) if name.endswith(".py") else import_module(name)
    except (Exception, SystemExit) as error:  # whatever the module does
        cause = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConfigurationError(f"{place_of(error)}: scorers {name} cannot be imported ({cause})") from error
    own, found = root / f"{name.replace('.', '/')}.py", Path(getattr(module, "__file__", None) or "")
    if own.is_file() and not own.samefile(found):
        raise ConfigurationError(f"scorers {name} are those of {found}; name the file, or judge in another process")
    listed: Sequence[Scorer] = getattr(
        module, "SCORERS", [each for each in vars(module).values() if isinstance(each, Scorer)]
    )
    if not listed:
        raise ConfigurationError(f"{name}: has no scorer; write @scorer(NAME) above a function of (case, trace)")
    return listed


def safety_metrics(pack: "Pack | None" = None) -> tuple[str, ...]:
    """The metrics that are never to be 0. Raises ConfigurationError as `scorers` does."""
    return tuple(scorer.name for scorer in scorers(pack) if scorer.safety)


def deciding(pack: "Pack", primary: tuple[str, ...], cases: Sequence[Case]) -> tuple[ScorerInfo, ...]:
    """The scorers as a run over these cases has them: where nobody chose the primary metrics, one whose label no case
    has is not primary. Raises ConfigurationError as `scorers` does."""
    infos = scorer_infos(pack, primary)
    if primary or pack.primary:
        return infos
    labels = {scorer.name: scorer.label for scorer in scorers(pack)}
    without = frozenset.intersection(*(case.known.unlabelled for case in cases)) if cases else frozenset()
    return tuple(
        info.model_copy(update={"primary": False}) if info.primary and labels[info.name] in without else info
        for info in infos
    )


def scorer_infos(pack: "Pack | None" = None, primary: tuple[str, ...] = ()) -> tuple[ScorerInfo, ...]:
    """The scorers as the report explains them. Raises ConfigurationError as `scorers` does."""
    return _infos(scorers(pack, primary))


@cache
def _infos(listed: tuple[Scorer, ...]) -> tuple[ScorerInfo, ...]:
    return tuple(ScorerInfo.model_validate(scorer, from_attributes=True) for scorer in listed)
