"""`evals score-localisation`, and the work of `evals dataset show --floors`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from evals.cli.terminal import VisibleConsole
from evals.errors import EXIT_OK, CannotJudgeError, ConfigurationError
from evals.models.run import DatasetBaseline
from evals.report.numbers import percent
from evals.statistics.rates import NOT_AVAILABLE, format_rate
from evals.triage.dataset.checks.balance_check import LIMITS
from evals.triage.dataset.floor_scores import kind_baselines
from evals.triage.dataset.load_cases import load_cases
from evals.triage.localisation.localisation_scores import LevelScores, Metric, score
from evals.triage.localisation.ranking_files import LEVELS, read_gold, read_predictions
from evals.workspace import Workspace

WIDTH = 160  # of a log file: the routes have to fit


def baselines(root: Path, dataset: Path | None = None, *, as_json: bool = False) -> int:
    """Print every baseline over the whole dataset, beside its target where it has one. Returns 0.

    Raises ConfigurationError, DatasetError.
    """
    workspace = Workspace.at(root, dataset)
    cases = list(load_cases(workspace.datasets).values())
    found = [*kind_baselines(cases, workspace.cache), *workspace.pack.floors(cases, workspace)]
    if as_json:
        print(json.dumps([item.model_dump(mode="json") for item in found], indent=2))
        return EXIT_OK
    VisibleConsole(width=None if sys.stdout.isatty() else WIDTH).print(_table(found))
    return EXIT_OK


def _table(found: list[DatasetBaseline]) -> Table:
    table = Table(
        title="what needs no model", caption="route.pass counts every case twice: unsure (0.7) and sure (0.9)"
    )
    for heading in ("endpoint", "baseline", "share", "of", "target", "definition", "chosen"):
        table.add_column(heading, overflow="fold")
    for item in found:
        table.add_row(
            item.endpoint, item.name, percent(item.share), str(item.n), _target(item), item.definition, item.detail
        )
    return table


def _target(item: DatasetBaseline) -> str:
    """The highest share a dataset should leave to this router, and whether it does."""
    if item.name == "oracle":
        return f"100 %: {'met' if item.share == 1 else 'missed'}"
    target = LIMITS.get(item.name)
    if target is None:
        return ""
    return f"at most {percent(target)}: {'met' if item.share <= target else 'missed'}"


localisation = typer.Typer()


@localisation.command("score-localisation")
def score_localisation_command(
    gold: Annotated[Path, typer.Option(help="Rows of SWE-bench, of LocAgent's benchmark, or plain ones (see above).")],
    pred: Annotated[Path, typer.Option(help="LocAgent's output, or plain rows.")],
    k: Annotated[str, typer.Option(help="The ranks to look at, with commas between.")] = "1,3,5,10",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> int:
    """Score named files and functions against where the fixes were: any tool's output, no dataset needed.

    A plain row is {"instance_id": …, "files": […], "functions": […]}, best first. A function is `path::name` or
    `path:Class.method`. It is scored twice: by its outermost definition, as gold is labelled here (`Class.method`
    counts as `Class`; LocAgent's module level), and as a whole name (LocAgent's function level). `.__init__` counts as
    its class in both.
    """
    return score_localisation(gold, pred, k, as_json=as_json)


NOTES: Final = {
    "function": "outermost definition; LocAgent's module level",
    "whole name": "Class.method as written; LocAgent's function level",
}
LEGEND: Final = (
    "Hit@k: any gold in the first k. Acc@k: all gold in the first k. Acc (LocAgent)@k: min(gold, k) of it there, as in "
    "LocAgent's published evaluation. MAP divides by all gold. 95 % intervals of rates and means over "
    "instances."
)


def score_localisation(gold: Path, pred: Path, k: str, *, as_json: bool, console: Console | None = None) -> int:
    """Score the predictions in `pred` against `gold` at the ranks in `k` (`1,3,5`). Returns 0.

    Raises:
        ConfigurationError: `k` is no list of ranks.
        DatasetError: a file is missing, or a row is wrong (`path:line: …`).
        CannotJudgeError: no instance has gold at a level that was predicted.
    """
    ks = ranks(k)
    wanted = read_gold(gold)
    levels = score(wanted, read_predictions(pred, wanted), ks)
    if not any(level.scored for level in levels):
        raise CannotJudgeError(f"{pred}: nothing to score: {gold} states no gold at a level that was predicted")
    if as_json:
        print(json.dumps({level.level: asdict(level) for level in levels}, indent=1))
    else:
        _show(levels, console or VisibleConsole(soft_wrap=True, highlight=False))
    return EXIT_OK


def ranks(text: str) -> tuple[int, ...]:
    """`1,3,5` as numbers, sorted. Raises ConfigurationError."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ConfigurationError(f"--k {text}: give ranks from 1 upwards with commas between, such as 1,3,5")
    return tuple(sorted({int(part) for part in parts}))


def _show(levels: tuple[LevelScores, ...], console: Console) -> None:
    for level in levels:
        console.print(_table_localisation(level))
        console.print(_counts(level), markup=False)
    for name in (name for name in LEVELS if name not in {level.level for level in levels}):
        console.print(f"{name}: not scored; one of the two files does not speak of it")
    console.print(LEGEND, markup=False)


def _table_localisation(level: LevelScores) -> Table:
    note = f" ({NOTES[level.level]})" if level.level in NOTES else ""
    table = Table(title=f"{level.level} level{note}, {level.scored} instances")
    for heading in ("score", "value", "95 % interval", "hits"):
        table.add_column(heading, justify="left" if heading == "score" else "right")
    for metric in level.metrics:
        table.add_row(metric.name, _value(metric), _interval(metric), _hits(metric))
    return table


def _counts(level: LevelScores) -> str:
    said = [f"{level.unpredicted} of {level.scored} without a prediction, counted as wrong"]
    if level.empty:
        said.append(f"{level.empty} without gold, not in the scores ({level.silent} of them rightly named nothing)")
    if level.unlabelled:
        said.append(f"{level.unlabelled} whose gold does not speak of this level, left out")
    return "; ".join(said)


def _value(metric: Metric) -> str:
    if metric.value is None:
        return NOT_AVAILABLE
    return fraction(metric.value) if metric.hits is None else format_rate(metric.hits, metric.n)


def _interval(metric: Metric) -> str:
    if metric.interval is None:
        return NOT_AVAILABLE
    shown = fraction if metric.hits is None else percent
    return f"{shown(metric.interval.low)} to {shown(metric.interval.high)}"


def fraction(value: float) -> str:
    """Three digits; 0.000 and 1.000 only where exactly true."""
    return f"{value if value in (0, 1) else min(max(value, 0.001), 0.999):.3f}"


def _hits(metric: Metric) -> str:
    return "" if metric.hits is None else f"{metric.hits}/{metric.n}"
