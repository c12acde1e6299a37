"""`evals score-localisation`: rankings of any tool against gold, as a table or as JSON."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from evals.cli.terminal.console import VisibleConsole
from evals.errors import EXIT_OK, CannotJudgeError, ConfigurationError
from evals.localisation.read import LEVELS, read_gold, read_predictions
from evals.localisation.score import LevelScores, Metric, score
from evals.report.numbers import percent
from evals.stats.rates import NOT_AVAILABLE, format_rate

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
        console.print(_table(level))
        console.print(_counts(level), markup=False)
    for name in (name for name in LEVELS if name not in {level.level for level in levels}):
        console.print(f"{name}: not scored; one of the two files does not speak of it")
    console.print(LEGEND, markup=False)


def _table(level: LevelScores) -> Table:
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
