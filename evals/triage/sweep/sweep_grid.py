"""Sweep one variant over a grid of settings."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from evals.errors import ConfigurationError
from evals.models.analysis import Sweep
from evals.models.run import ScorerInfo, VariantInfo
from evals.models.suite import Variant
from evals.pipeline.load_run import scored
from evals.run_context import RunContext
from evals.scoring.registry import scorer_infos
from evals.triage.confidence_floor import GUARD_SETS
from evals.triage.sweep.sweep_choice import behaviours, eligible, front, recommend
from evals.triage.sweep.sweep_run import Explored, execute, grid, numbers, point_of
from evals.triage.variant_prompts import configuration_of


@dataclass(frozen=True)
class Axes:
    """The grid as it was typed."""

    single: str
    corroborated: str
    min_findings: str
    guards: str | None


def swept(
    chosen: RunContext, axes: Axes, score: str, *, jobs: int, today: date, progress: Callable[[Explored], None]
) -> Sweep:
    """Every point of the grid tried on every case, and what is recommended; `progress` is told of each case.

    Raises:
        ConfigurationError: the variant, the grid or the score is none.
    """
    info, scorer = _varied(chosen), _scorer(score)
    points = grid(
        point_of(info.variant),
        numbers(axes.single, "--single"),
        numbers(axes.corroborated, "--corroborated"),
        numbers(axes.min_findings, "--min-findings"),
        _guards(axes.guards, info.variant),
    )
    chosen = scored(chosen, today)
    explored = execute(chosen.cases, info, points, chosen.workspace, jobs=jobs, progress=progress)
    found, trials = behaviours(chosen.by_id, points, explored, scorer)
    return Sweep(
        suite=chosen.suite.name,
        variant=info.variant.name,
        present=points[0].name,
        score=score,
        coverage_floor=chosen.suite.gate.coverage_floor,
        recorded_by=_answered_by(explored),
        cases=dict(Counter(case.labels.split for case in chosen.cases)),
        points=len(points),
        executed=sum(len(case.traces) for case in explored),
        behaviours=found,
        front=tuple(one.name for one in front(eligible(found, chosen.suite.gate.coverage_floor))),
        recommendation=recommend(found, trials, chosen.by_id, score, chosen.suite.gate),
    )


def _varied(chosen: RunContext) -> VariantInfo:
    """The one variant whose settings are varied: the suite's candidate, or the one that `--variant` names."""
    if len(chosen.variants) > 1 and chosen.options.variants:
        raise ConfigurationError("a sweep varies one variant; name a single --variant")
    wanted = chosen.variants[0].variant.name if chosen.options.variants else chosen.suite.candidate
    return next(info for info in chosen.variants if info.variant.name == wanted)


def _scorer(name: str) -> ScorerInfo:
    fit = {one.name: one for one in scorer_infos() if one.unit == "fraction" and one.better == "higher"}
    if name not in fit:
        raise ConfigurationError(f"--score {name}: choose one of {', '.join(fit)}")
    return fit[name]


def _guards(names: str | None, variant: Variant) -> list[str]:
    """The guard sets to try; `all` is every one there is."""
    chosen = [variant.guards] if names is None else [*GUARD_SETS] if names == "all" else names.split(",")
    for one in chosen:
        configuration_of(variant.model_copy(update={"guards": one}))
    return chosen


def _answered_by(explored: list[Explored]) -> tuple[str, ...]:
    return tuple(
        sorted({call.model for case in explored for trace in case.traces for call in trace.calls if call.model})
    )
