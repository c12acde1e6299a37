"""Registry of scorers: the pack's and the ready-made ones, applied to every trace, and the files they read."""

import importlib.util
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evals.application_pack import load_pack
from evals.content_cache import digest_of
from evals.errors import ConfigurationError, nearest_name
from evals.models.case import Case, RouteReading
from evals.models.run import ScorerInfo, Trial
from evals.models.trace import Trace
from evals.routes.route_check import first_divergence, why
from evals.scoring import cost_scorers, route_scorers
from evals.scoring.route_scorers import route_score_of
from evals.scoring.scorer import NOT_OWN, Scorer, place_of, score
from evals.source_loader import find_modules_in, load_file, other_place

if TYPE_CHECKING:
    from evals.application_pack import Pack

LOADED: Final[set[str]] = set()
SCORED: Final[defaultdict[str, set[str]]] = defaultdict(set)
"""Case -> files that were opened while its trials were scored."""
_noted: ContextVar[set[str] | None] = ContextVar("files_read", default=None)
_SKIPPED: Final = (*NOT_OWN, Path("/proc"), Path("/sys"))


@contextmanager
def noted(found: set[str], *, own: bool) -> Iterator[None]:
    """Add the absolute path of every file that the block opens for reading, modules and bytecode included; without
    scorers of a project's `own`, nothing."""
    if own:
        _hook()
    token = _noted.set(found)
    try:
        yield
    finally:
        _noted.reset(token)


def own_files(paths: Iterable[str]) -> list[Path]:
    """Those of a project, sorted; bytecode as its source."""
    found = set()
    for name in paths:
        path = Path(name)
        with suppress(ValueError):  # no bytecode
            path = Path(importlib.util.source_from_cache(name))
        if (path.is_file() or not path.exists()) and not any(path.is_relative_to(each) for each in _SKIPPED):
            found.add(path)
    return sorted(found)


def files_scored(pack: "Pack", cases: Iterable[str] | None = None, also: Iterable[str] = ()) -> dict[str, str]:
    """Path below the project's root -> digest of each file that its scorers have read while they scored these cases (or
    any), and of those that are `also` named, as it is now."""
    root = pack.root.resolve()
    read = own_files(name for case in (SCORED if cases is None else cases) for name in SCORED.get(case, ()))
    found = {path.relative_to(root).as_posix() for path in read if path.is_relative_to(root)}
    return {path: file_digest(root / path) for path in sorted({*found, *also})}


def file_digest(path: Path) -> str:
    """The digest of a file's content; that of an empty one where there is none."""
    return digest_of(path.read_bytes() if path.is_file() else b"")


@cache
def _hook() -> None:
    """An audit hook stays as long as the process, so that there is one, and only where a project has scorers."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and (found := _noted.get()) is not None:
        path, _, flags = arguments
        if isinstance(path, str | bytes | os.PathLike) and not flags & (os.O_WRONLY | os.O_RDWR):
            found.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 - links stay


READY_MADE: Final[tuple[Scorer, ...]] = (*route_scorers.SCORERS, *cost_scorers.SCORERS)
"""Scorers that need nothing but the core's own fields of a case and a trace."""


def scorers(pack: "Pack | None" = None, primary: tuple[str, ...] = ()) -> tuple[Scorer, ...]:
    """The scorers of a pack (of the default one if none is given): those of its modules, in that order, then the
    ready-made ones that they do not list. `primary` names those that decide; none: those that the pack names, else
    those that say so themselves.

    Raises:
        ConfigurationError: a module cannot be imported or has no scorer, two scorers have one name, a name is no word,
            or a primary one is none, or is no fraction of which more is better.
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
        if not scorer.name.isprintable() or scorer.name.split() != [scorer.name]:
            raise ConfigurationError(f"{scorer.name!r} is no name of a metric; write a word such as reply.polite")
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
    if name.partition(".")[0] != "evals":
        find_modules_in(root)
    try:
        with noted(LOADED, own=name.partition(".")[0] != "evals"):
            module = load_file((root / name).resolve()) if name.endswith(".py") else import_module(name)
    except (Exception, SystemExit) as error:  # whatever the module does
        cause = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConfigurationError(f"{place_of(error)}: scorers {name} cannot be imported ({cause})") from error
    if found := other_place(module, name, root):
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


def score_trials(cases: Mapping[str, Case], traces: Sequence[Trace], pack: "Pack | None" = None) -> tuple[Trial, ...]:
    """One trial per trace, in the same order, scored by the scorers of the pack (of the default one if none is given).

    Raises:
        ConfigurationError: the pack's scorers cannot be loaded.
    """
    listed = scorers(pack)
    own = not all(scorer.function.__module__.startswith("evals.") for scorer in listed)
    return tuple(_scored(cases[trace.case_id], trace, listed, own=own) for trace in traces)


def _scored(case: Case, trace: Trace, listed: Sequence[Scorer], *, own: bool) -> Trial:
    with noted(SCORED[case.id] if own else set(), own=own):
        return _outcomes(case, trace, listed)


def _outcomes(case: Case, trace: Trace, listed: Sequence[Scorer]) -> Trial:
    exact = trace.provenance.label == "exact"
    return Trial(
        trace=trace,
        outcomes={scorer.name: score(scorer, case, trace) for scorer in listed},
        hard_violations=route_score_of(case, trace).hard if exact else (),
        first_divergence=_divergence(case, trace) if exact else None,
        reading=_reading(case, trace) if exact else None,
    )


def _reading(case: Case, trace: Trace) -> RouteReading:
    spec = case.route_spec
    return why(spec, trace.route, trace.state(spec.node_caps), trace.supersteps)


def _divergence(case: Case, trace: Trace) -> int | None:
    exemplars = [exemplar for way in case.route_spec.alternatives for exemplar in way.exemplars]
    return first_divergence(trace.route, exemplars, trace.supersteps)
