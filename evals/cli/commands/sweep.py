"""`evals sweep`: which thresholds and guards to work with, from what is recorded."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rich.table import Table

from evals.cli.commands.progress import bar
from evals.cli.commands.run import place_of, wide_console
from evals.cli.commands.selection import Options, Selected, scored, selected
from evals.errors import ConfigurationError
from evals.export.files import write_files
from evals.models.run import ScorerInfo, VariantInfo
from evals.models.suite import Variant
from evals.models.sweep import Behaviour, Sweep
from evals.report.numbers import NOTHING, rate
from evals.report.sheets import render_sweep
from evals.scoring import scorer_infos
from evals.subject.floor import GUARD_SETS
from evals.subject.prompt import configuration_of
from evals.sweep.behaviours import behaviours
from evals.sweep.choose import CHOSEN_ON, eligible, front, recommend
from evals.sweep.execute import execute
from evals.sweep.explore import Explored
from evals.sweep.grid import grid, numbers, point_of

_STYLE = {"recommended": "bold green", "not confirmed": "bold red", "cannot recommend": "bold yellow"}
SHOWN = 20


@dataclass(frozen=True)
class Axes:
    """The grid as it was typed."""

    single: str
    corroborated: str
    min_findings: str
    guards: str | None


def sweep(
    name: str, root: Path, options: Options, axes: Axes, score: str, *, jobs: int, out: Path | None, today: date
) -> int:
    """Try every point of the grid, print and write the result; the exit code is the recommendation's."""
    chosen = selected(name, root, options)
    info, scorer = _varied(chosen, options), _scorer(score)
    points = grid(
        point_of(info.variant),
        numbers(axes.single, "--single"),
        numbers(axes.corroborated, "--corroborated"),
        numbers(axes.min_findings, "--min-findings"),
        _guards(axes.guards, info.variant),
    )
    chosen, _ = scored(chosen, options, today)
    with bar(f"sweeping {chosen.suite.name}", len(chosen.cases)) as progress:
        explored = execute(
            chosen.cases,
            info,
            points,
            chosen.workspace,
            jobs=jobs,
            progress=lambda done: progress.step(f"{done.case_id}: {len(done.traces)} trials"),
        )
    found, trials = behaviours(chosen.by_id, points, explored, scorer)
    result = Sweep(
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
    folder = out or chosen.workspace.reports / "sweep"
    stored = json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    write_files(folder, {"index.html": render_sweep(result), "sweep.json": stored})
    _say(result, place_of(folder / "index.html", chosen.workspace.root))
    return result.recommendation.exit_code


def _varied(chosen: Selected, options: Options) -> VariantInfo:
    """The one variant whose settings are varied: the suite's candidate, or the one that `--variant` names."""
    if len(chosen.variants) > 1 and options.variants:
        raise ConfigurationError("a sweep varies one variant; name a single --variant")
    wanted = chosen.variants[0].variant.name if options.variants else chosen.suite.candidate
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


def _say(result: Sweep, report: str) -> None:
    console = wide_console()
    console.print(_table(result))
    hidden = len(result.behaviours) - SHOWN
    if hidden > 0:
        console.print(f"... and {hidden} more behaviours in the report")
    cases = sum(result.cases.values())
    console.print(
        f"{result.points} points x {cases} cases: {result.executed} trials told them all apart, as "
        f"{len(result.behaviours)} behaviours."
    )
    verdict = result.recommendation
    console.print(verdict.sentence, style=_STYLE[verdict.status], markup=False)
    console.print(f"exit code {verdict.exit_code} ({verdict.status}). Report: {report}", markup=False)


def _table(result: Sweep) -> Table:
    """One row per behaviour, with what it comes to on the split the choice is made on."""
    table = Table(title=f"{result.variant} of {result.suite} on {CHOSEN_ON}, as {result.score}")
    for heading in (
        "setting (single/corroborated/findings)",
        "points",
        "exact",
        result.score,
        "visits",
        "asked",
        "calls",
    ):
        table.add_column(heading)
    for one in result.behaviours[:SHOWN]:
        table.add_row(*_row(one, result))
    return table


def _row(one: Behaviour, result: Sweep) -> tuple[str, ...]:
    measure = one.splits.get(CHOSEN_ON)
    mark = " *" if one.name in result.front else ""
    now = " (now)" if any(point.name == result.present for point in one.points) else ""
    if measure is None:
        return (f"{one.name}{now}", str(len(one.points)), "no case", *([NOTHING] * 4))
    return (
        f"{one.name}{now}{mark}",
        str(len(one.points)),
        f"{measure.coverage.exact}/{measure.coverage.total}",
        rate(measure.score),
        *(
            NOTHING if mean is None else f"{mean:.1f}"
            for mean in (measure.visits, measure.questions, measure.llm_calls)
        ),
    )
