"""The table of cases."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import SimpleNamespace
from typing import Final, NamedTuple

from evals.models.metrics import Failed, Outcome, Scored, Skipped
from evals.models.run import CaseInfo, Comparison, Divergence, Run, ScorerInfo, Trial, trial_metrics
from evals.models.trace import Trace
from evals.report.numbers import NOTHING, percent
from evals.report.view.divergence_view import Pools, divergence_views
from evals.report.view.page_parts import ListLink, Lists
from evals.report.view.trial_view import Ribbon, label_lines, plain_ribbon, ribbon, trial_view
from evals.report.view.violations_table import RuleTable, rule_tables

Marked = Sequence[tuple[str, str]]
"""Metrics with one word for each."""


def marked(scorers: Iterable[ScorerInfo]) -> tuple[tuple[str, str], ...]:
    """The primary metrics of a trial, each with one word for it: `root_cause.hit` is ("root_cause.hit", "cause")."""
    return tuple((name, name.partition(".")[0].rpartition("_")[2]) for name in trial_metrics(scorers))


class OutcomeMark(NamedTuple):
    """One pass-or-fail score in a word; `kind` is its class: pass, fail, none or error."""

    kind: str
    text: str


class Walk(NamedTuple):
    """One trial as the row shows it."""

    ribbon: Ribbon
    provenance: str
    exact: bool
    marks: tuple[OutcomeMark, ...]


@dataclass(frozen=True)
class CaseRow:
    """One case. `kind` are its labels of one word, to be searched for; `outcomes` is what a filter looks at; `ranks`
    sorts by each variant's column. `sides` are the trials of reference and candidate, `others` those of other
    variants."""

    case: CaseInfo
    kind: str
    labels: list[tuple[str, str]]
    outcomes: str
    walks: tuple[tuple[Walk, ...], ...]
    ranks: tuple[str, ...]
    body: str
    exemplars: tuple[Ribbon, ...]
    divergences: tuple[SimpleNamespace, ...]
    rules: tuple[RuleTable, ...]
    sides: tuple[tuple[SimpleNamespace, ...], ...]
    others: tuple[SimpleNamespace, ...]


@dataclass(frozen=True)
class CaseTable:
    """All rows, the variants (reference and candidate first), and what to filter by; whether a rule overrode a
    decision in any of them, and whether any case has exemplars."""

    variants: tuple[str, ...]
    compared: int
    slices: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[CaseRow, ...]
    overrides: bool
    exemplars: bool


def case_table(run: Run, pools: Pools) -> CaseTable:
    """One row per case, in the order of the run; a column per variant, reference and candidate first."""
    parted: dict[str, list[Divergence]] = {}
    for item in run.divergences:
        parted.setdefault(item.case_id, []).append(item)
    trials: dict[tuple[str, str], list[Trial]] = {}
    for trial in run.trials:
        trials.setdefault((trial.trace.case_id, trial.trace.variant), []).append(trial)
    first = dict.fromkeys((run.reference, run.candidate))
    names = sorted((info.variant.name for info in run.variants), key=lambda name: [*first, name].index(name))
    compared = sum(name in first for name in names)
    rows = tuple(
        _row(run, case, [trials.get((case.id, name), []) for name in names], compared, parted.get(case.id, ()), pools)
        for case in run.cases
    )
    return CaseTable(
        tuple(names),
        compared,
        tuple(sorted({case.slice for case in run.cases})),
        tuple(item.endpoint for item in _compared(run)),
        rows,
        overrides=any("override" in row.outcomes.split() for row in rows),
        exemplars=any(row.exemplars for row in rows),
    )


def _compared(run: Run) -> list[Comparison]:
    """The candidate against the reference, a comparison per primary metric."""
    return [item for item in run.comparisons if item.left == run.candidate and item.against == "reference"]


def changed_first(run: Run) -> tuple[CaseInfo, ...]:
    """The cases of a run: those that got worse, those that got better, those in which candidate and reference decide
    otherwise, then the rest, each in the order of the run."""
    worse = {case for item in _compared(run) for case in item.broke}
    better = {case for item in _compared(run) for case in item.mended}
    differs = {item.case_id for item in run.divergences if (item.left, item.right) == (run.candidate, run.reference)}
    return tuple(
        sorted(run.cases, key=lambda case: [case.id in part for part in (worse, better, differs)], reverse=True)
    )


def _row(
    run: Run,
    case: CaseInfo,
    columns: Sequence[Sequence[Trial]],
    compared: int,
    parted: Sequence[Divergence],
    pools: Pools,
) -> CaseRow:
    traces = {(trial.trace.variant, trial.trace.sample): trial.trace for trials in columns for trial in trials}
    prompts = {info.variant.name: info.prompt_text for info in run.variants}
    metrics = marked(run.scorers)
    ways = [[ribbon(trial, pools.letters) for trial in trials] for trials in columns]
    views = [
        tuple(
            trial_view(
                *(trial, case, run.scorers, way, pools.texts, pools.pictures),
                recorded=pools.calls.of(trial.trace),
                prompt=prompts[trial.trace.variant],
            )
            for trial, way in zip(trials, found, strict=True)
        )
        for trials, found in zip(columns, ways, strict=True)
    ]
    return CaseRow(
        case=case,
        kind=" ".join(told for told in case.labels.values() if isinstance(told, str) and " " not in told),
        labels=label_lines(case),
        outcomes=" ".join(outcome_words(run, case.id, columns)),
        walks=tuple(
            tuple(_walk(trial, way, metrics) for trial, way in zip(trials, found, strict=True))
            for trials, found in zip(columns, ways, strict=True)
        ),
        ranks=tuple(f"{_rank(trials, metrics):.4g}" for trials in columns),
        body=pools.texts.add(case.body),
        exemplars=tuple(plain_ribbon(route, pools.letters) for route in case.exemplars),
        divergences=divergence_views(run, parted, traces, pools),
        rules=rule_tables(case, [trial for trials in columns for trial in trials], pools.sheets, pools.texts),
        sides=tuple(views[:compared]),
        others=tuple(view for column in views[compared:] for view in column),
    )


def _walk(trial: Trial, way: Ribbon, metrics: Marked) -> Walk:
    provenance = trial.trace.provenance
    return Walk(
        ribbon=way,
        provenance=str(provenance),
        exact=provenance.label == "exact",
        marks=tuple(mark(label, trial.outcomes.get(name)) for name, label in metrics),
    )


def mark(label: str, outcome: Outcome | None) -> OutcomeMark:
    """A pass-or-fail score in a word and a sign, so that nothing hangs on colour."""
    match outcome:
        case Scored(value=value) if value in (0, 1):
            return OutcomeMark("pass", f"✓ {label}") if value else OutcomeMark("fail", f"✗ {label}")
        case Scored(value=value):
            return OutcomeMark("none", f"{percent(value)} {label}")
        case Failed():
            return OutcomeMark("error", f"! {label} failed")
        case Skipped() | None:
            return OutcomeMark("none", f"\N{EN DASH} {label}")


def outcome_words(run: Run, case_id: str, columns: Sequence[Sequence[Trial]]) -> list[str]:
    """What the filter "outcome" can find a case by."""
    metrics = marked(run.scorers)
    trials_of = [trial for trials in columns for trial in trials]
    marks = [mark(label, trial.outcomes.get(name)).kind for name, label in metrics for trial in trials_of]
    labels = {trial.trace.provenance.label for trials in columns for trial in trials}
    mine = _compared(run)
    words = {
        "fail": "fail" in marks,
        "pass": bool(marks) and set(marks) == {"pass"},
        "worse": any(case_id in item.broke for item in mine),
        "better": any(case_id in item.mended for item in mine),
        **{f"worse:{item.endpoint}": case_id in item.broke for item in mine},
        **{f"better:{item.endpoint}": case_id in item.mended for item in mine},
        "unrecorded": bool(labels & {"frontier", "unrecorded"}),
        "failed": "failed" in labels or "error" in marks,
        "differs": _differs(columns, metrics),
        "override": any(
            decision.overrides for trials in columns for trial in trials for decision in trial.trace.decisions
        ),
    }
    return [word for word, holds in words.items() if holds]


def _differs(columns: Sequence[Sequence[Trial]], metrics: Marked) -> bool:
    """Whether variants took different routes, or passed and failed differently, where both are recorded."""
    exact = [[trial for trial in trials if trial.trace.provenance.label == "exact"] for trials in columns]
    seen = {
        tuple((_way(trial.trace), *(trial.outcomes.get(name) for name, _ in metrics)) for trial in trials)
        for trials in exact
        if trials
    }
    return len(seen) > 1


def _way(trace: Trace) -> tuple[tuple[str, ...], ...]:
    """The route, superstep by superstep: what ran side by side has no order to differ in."""
    steps = groupby(trace.steps, key=lambda visit: visit.superstep)
    return tuple(tuple(sorted(visit.node for visit in visits)) for _, visits in steps)


def _rank(trials: Sequence[Trial], metrics: Marked) -> float:
    """Passed marks of a column, on average; what is not recorded comes last."""
    values = [
        outcome.value
        for trial in trials
        for name, _ in metrics
        if isinstance(outcome := trial.outcomes.get(name), Scored)
    ]
    return sum(values) / len(values) if values else -1.0


LEVELS: Final = 4
"""Shades of a cell, by the share of its trials that do not pass."""


@dataclass(frozen=True)
class SliceCell:
    """Passed of scored trials, linked to the cases that do not pass; `level` is from 0 (all pass) to `LEVELS`."""

    passed: ListLink
    level: str


@dataclass(frozen=True)
class SliceMap:
    """A row per slice; its cells by metric, and by variant inside a metric."""

    metrics: tuple[str, ...]
    variants: tuple[str, ...]
    rows: tuple[tuple[str, tuple[SliceCell, ...]], ...]


def slice_map(run: Run, lists: Lists) -> SliceMap:
    """How many trials of a slice pass each primary metric. Counts, not rates: slices are small."""
    metrics = tuple(name for name, _ in marked(run.scorers))
    variants = tuple(info.variant.name for info in run.variants)
    slices = {case.id: case.slice for case in run.cases}
    values: dict[tuple[str, str, str], list[tuple[str, float]]] = defaultdict(list)
    for trial in run.trials:
        for metric in metrics:
            outcome = trial.outcomes.get(metric)
            if isinstance(outcome, Scored):
                case = trial.trace.case_id
                values[slices[case], metric, trial.trace.variant].append((case, outcome.value))
    return SliceMap(
        metrics,
        variants,
        tuple(
            (
                name,
                tuple(
                    _cell(f"{name}, {variant}: {metric} not passed", values[name, metric, variant], lists)
                    for metric in metrics
                    for variant in variants
                ),
            )
            for name in sorted(set(slices.values()))
        ),
    )


def _cell(title: str, values: list[tuple[str, float]], lists: Lists) -> SliceCell:
    if not values:
        return SliceCell(ListLink(NOTHING, ""), "0")
    failed = [case for case, value in values if value != 1]
    share = len(failed) / len(values)
    level = max(1, round(share * LEVELS)) if failed else 0
    return SliceCell(lists.link(f"{len(values) - len(failed)}/{len(values)}", title, failed), str(level))
