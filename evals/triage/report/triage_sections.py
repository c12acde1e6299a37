"""Sections of the report that only triage has, and the tables of guards and decisions."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Final

from markupsafe import Markup

from evals.comparison.divergences import divergences
from evals.models.metrics import Scored
from evals.models.run import Comparison, Run
from evals.models.trace import Decision, Trace
from evals.report.numbers import MINUS, NOTHING, change, pairs, points, probability
from evals.report.view.page_parts import Section, Table, without_empty
from evals.triage.typed_views import published_gold
from evals.triage.variant_settings import settings_of

COSTS = {"cost.visits": "steps", "cost.llm_calls": "LLM calls"}


def ablation_table(run: Run) -> Table:
    """A row per guard that some variant lacks; no row where the suite leaves none out."""
    sides = dict.fromkeys((item.left, item.right) for item in run.ablations)
    endpoints = dict.fromkeys(item.endpoint for item in run.ablations)
    found = {(item.left, item.right, item.endpoint): item for item in run.ablations}
    return Table(
        "Without the guard minus with it, in points [95 %], paired by case: negative ones say that the guard helps. "
        "p-values are one-sided for “worse”, adjusted by Holm over the whole table",
        ("left out", "its overrides where it stands", "cases that go another way", *endpoints, *COSTS.values()),
        tuple(
            (
                _guard(run, left, right),
                _vetoes(run, _guard(run, left, right), right),
                _other_way(run, left, right),
                *(_cell(found[left, right, endpoint]) for endpoint in endpoints),
                *(_cost(run, left, right, scorer) for scorer in COSTS),
            )
            for left, right in sides
        ),
    )


def _guard(run: Run, left: str, right: str) -> str:
    guards = {info.variant.name: settings_of(info.variant).guards for info in run.variants}
    return guards[left].removeprefix(f"{guards[right]}-without-")


def _vetoes(run: Run, guard: str, variant: str) -> str:
    decisions = [
        decision for trial in run.trials if trial.trace.variant == variant for decision in trial.trace.decisions
    ]
    if not decisions:
        return NOTHING
    vetoes = sum(each.rule == guard for decision in decisions for each in decision.overrides)
    return f"{vetoes} of {len(decisions)} decisions"


def _other_way(run: Run, left: str, right: str) -> str:
    both = _cases(run, left) & _cases(run, right)
    return f"{len(divergences(run.trials, left, right))} of {len(both)}" if both else NOTHING


def _cases(run: Run, variant: str) -> set[str]:
    return {trial.trace.case_id for trial in run.trials if trial.trace.variant == variant and trial.trace.decisions}


def _cell(item: Comparison) -> str:
    if item.delta is None:
        return "cannot judge: no case is scored under both"
    known = f" [{points(item.low)}, {points(item.high)}]" if item.low is not None else ""
    flips = f"{len(item.mended)} better, {len(item.broke)} worse"
    return f"{change(item)}{known}; {flips}; p {probability(item.p_holm)}; n={pairs(item)}"


def _cost(run: Run, left: str, right: str, scorer: str) -> str:
    """The mean difference over the cases scored under both, and how many those are of all."""
    without, whole = (_means(run, name, scorer) for name in (left, right))
    both = without.keys() & whole.keys()
    if not both:
        return NOTHING
    difference = sum(without[case] - whole[case] for case in sorted(both)) / len(both)
    told = f"{difference:+,.1f}".replace("-", MINUS) if difference else "0"
    return f"{told} n={len(both)}/{len(run.cases)}"


def _means(run: Run, variant: str, scorer: str) -> dict[str, float]:
    """Case id -> mean of its scored samples; without `evals.comparison.metric_summaries`, which loads numpy."""
    found: dict[str, list[float]] = {}
    for trial in run.trials:
        outcome = trial.outcomes.get(scorer)
        if trial.trace.variant == variant and isinstance(outcome, Scored):
            found.setdefault(trial.trace.case_id, []).append(outcome.value)
    return {case: sum(values) / len(values) for case, values in found.items()}


Count = Callable[[Decision], int]

FAULTS: Final[tuple[tuple[str, Count], ...]] = (
    ("reply asked for again", lambda decision: decision.corrections),
    ("reply unusable", lambda decision: decision.error is not None),
    ("forced fallback", lambda decision: decision.forced_fallback),
)


def guard_table(run: Run) -> Table:
    """Guards and faults by variant: how often, and in how many trials. Unrecorded trials count as far as they are
    recorded: what happened before a miss did happen."""
    names = tuple(info.variant.name for info in run.variants)
    traces = {name: [trial.trace for trial in run.trials if trial.trace.variant == name] for name in names}
    guards = sorted({each.rule for trial in run.trials for one in trial.trace.decisions for each in one.overrides})
    counts = [*((f"override by {guard}", _vetoes_of(guard)) for guard in guards), *FAULTS]
    return Table(
        "How often guards overrode, over all recorded decisions",
        ("what", *names),
        (
            *((what, *(_counted(traces[name], count) for name in names)) for what, count in counts),
            ("decisions in all", *(_counted(traces[name], lambda _: 1) for name in names)),
        ),
    )


def _vetoes_of(guard: str) -> Count:
    return lambda decision: sum(each.rule == guard for each in decision.overrides)


def _counted(traces: Iterable[Trace], count: Count) -> str:
    """The number of times, and in how many of the trials with a recorded decision; without any it is no 0."""
    times = [sum(map(count, trace.decisions)) for trace in traces if trace.decisions]
    if not times:
        return NOTHING
    told = f"{sum(number > 0 for number in times)} of {len(times)} trials"
    return f"{sum(times)} in {told}" if sum(times) else told


def _draw(template: str, view: object) -> Markup:
    from evals.report.html_page import drawn  # noqa: PLC0415 - a cached run draws no page

    return drawn("evals.triage.report", template, view)


def published(run: Run) -> Markup:
    """Localisation as others score it; empty where no case is an imported one with gold."""
    return _draw("published.html.j2", published_tables(run))


def published_tables(run: Run) -> tuple[Table, ...]:
    """Localisation as others score it, for terminal and summary; none where no case is an imported one with gold."""
    if not any(published_gold(case) for case in run.cases):
        return ()
    from evals.triage.report.localisation_accuracy import published_table  # noqa: PLC0415 - as above

    return (published_table(run),)


def confidence(run: Run) -> Markup:
    """Charts of stated confidence against what it came to, and the command that tries other thresholds."""
    from evals.triage.report.calibration_charts import calibration_views  # noqa: PLC0415 - as above

    command = f"evals sweep {run.suite} --single 0.5:0.95:0.05 --guards all"
    return _draw("confidence.html.j2", SimpleNamespace(calibrations=calibration_views(run), sweep_command=command))


def guards(run: Run) -> Markup:
    """How often guards overrode a decision, and what each is good for."""
    return _draw(
        "guards.html.j2",
        SimpleNamespace(guards=without_empty(guard_table(run)), ablations=without_empty(ablation_table(run))),
    )


def guard_tables(run: Run) -> tuple[Table, ...]:
    """How often guards overrode a decision, for the summary."""
    return (guard_table(run),)


SECTIONS: Final = (
    Section("published", "Localisation as published evaluations score it", "numbers", published, published_tables),
    Section("confidence", "Confidence", "decisions", confidence),
    Section("guards", "Guards", "prompts", guards, guard_tables),
)
