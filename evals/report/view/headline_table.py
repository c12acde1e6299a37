"""The headline table: primary metrics per variant, with floors and scope."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from evals.application_pack import Pack, load_pack
from evals.models.run import Comparison, Coverage, DatasetBaseline, Run, Scope, Summary, VariantInfo
from evals.report.numbers import (
    MINUS,
    NOTHING,
    amount,
    change,
    pairs,
    percent,
    points,
    probability,
    rate,
    smallest_drop,
    value,
)
from evals.report.view.page_parts import Lists, Table
from evals.shared.display_text import counted
from evals.statistics.rates import skill

ORACLE = "oracle"


def best_baseline(run: Run, endpoint: str) -> DatasetBaseline | None:
    """The best router without a model on this metric; the oracle, which has read each case's labels, does not count."""
    rivals = [item for item in run.dataset_baselines if item.endpoint == endpoint and item.name != ORACLE]
    return max(rivals, key=lambda item: item.share, default=None)


def beaten(item: DatasetBaseline | None) -> str:
    """The baseline in one cell."""
    return "" if item is None else f"{percent(item.share)} ({item.name})"


def skill_of(summary: Summary, item: DatasetBaseline | None) -> str:
    """The skill over the baseline, signed, 1 at best; empty without a baseline, unknown where not every case of the run
    is scored: the baseline is about all of them."""
    if item is None:
        return ""
    if summary.mean is None or summary.n < summary.total:
        return NOTHING
    won = skill(summary.mean, item.share)
    return NOTHING if won is None else f"{won:+.2f}".replace("-", MINUS)


def baseline_table(run: Run) -> Table:
    """Every floor of the run's cases."""
    return Table(
        "What needs no model, on the cases of this run",
        ("floor", "metric", "share", "of", "what it does", "chosen"),
        tuple(
            (item.name, item.endpoint, percent(item.share), str(item.n), item.definition, item.detail)
            for item in run.dataset_baselines
        ),
    )


@dataclass(frozen=True)
class DeltaBar:
    """A difference and its interval on a scale of 0 to 100; `zero` is where no difference lies."""

    low: str
    width: str
    value: str
    zero: str


@dataclass(frozen=True)
class Comparisons:
    """Comparisons on one axis from `low` to `high`, in points; what they `compare` where that is the same for all."""

    rows: tuple[SimpleNamespace, ...]
    low: str
    high: str
    left: str = ""
    right: str = ""


def variant_table(run: Run, pack: Pack | None = None) -> Table:
    """Every variant on the primary metrics, with 95 % intervals and skill over the floor, which is the last row."""
    primary = [scorer.name for scorer in run.scorers if scorer.primary]
    found = {(item.variant, item.scorer): item for item in run.summaries}
    floors = [best_baseline(run, name) for name in primary]
    rows = [
        (
            _named(run, info, (pack or load_pack()).usual_settings),
            _recorded(run.coverage[info.variant.name]),
            *(_rate(found[info.variant.name, name], floor) for name, floor in zip(primary, floors, strict=True)),
        )
        for info in run.variants
    ]
    if run.dataset_baselines:
        rows.append(("floor (no model)", f"{len(run.cases)} cases", *map(beaten, floors)))
    return Table("All variants, with 95 % intervals", ("variant", "recorded trials", *primary), tuple(rows))


def _named(run: Run, info: VariantInfo, usual: Mapping[str, str]) -> str:
    """A variant, its part in the suite, its prompt, and its settings where they are not the usual ones."""
    name, settings = info.variant.name, info.variant.settings
    roles = {run.candidate: "candidate", run.reference: "reference"} if run.candidate != run.reference else {}
    parts = [roles[name]] if name in roles else []
    parts += [f"prompt {info.prompt_version}" if info.prompt_version else "no prompt"]
    parts += [f"{key} {settings[key]}" for key, value in usual.items() if settings.get(key, value) != value]
    return f"{name} ({', '.join(parts)})"


def _recorded(covered: Coverage) -> str:
    counts = {"at a frontier": covered.frontier, "unrecorded": covered.unrecorded, "failed": covered.failed}
    short = "".join(f", {count} {label}" for label, count in counts.items() if count)
    return f"{covered.exact} of {covered.total}{short}"


def _rate(summary: Summary, floor: DatasetBaseline | None) -> str:
    over = skill_of(summary, floor)
    shown = rate(summary).removesuffix(f" n={summary.total}/{summary.total}")
    return f"{shown}, skill {over}" if over else shown


def deciding(run: Run, lists: Lists) -> Comparisons:
    """The candidate against the reference; against its baseline where there is no reference to compare with."""
    mine = [item for item in run.comparisons if item.left == run.candidate]
    shown = [item for item in mine if item.against == "reference"] or mine
    return _compared(run, shown, lists, run.candidate, shown[0].right if shown else "")


def comparisons(run: Run, lists: Lists) -> Comparisons:
    """Every comparison, in the order of the run."""
    return _compared(run, run.comparisons, lists)


def _compared(run: Run, items: Sequence[Comparison], lists: Lists, left: str = "", right: str = "") -> Comparisons:
    """The axis reaches from the lowest to the highest bound, and over nought."""
    known = [0.0, *(bound for item in items for bound in (item.low, item.high, item.delta) if bound is not None)]
    low, high = min(known), max(known)
    low, high = (low, high) if high > low else (-0.01, 0.01)
    rows = tuple(_comparison(run, item, lists, low, high) for item in items)
    return Comparisons(rows, points(low), points(high), left, right)


def _bar(item: Comparison, low: float, high: float) -> DeltaBar | None:
    if item.delta is None:
        return None
    least, most = (item.delta if bound is None else bound for bound in (item.low, item.high))
    at = {"low": least, "value": item.delta, "zero": 0.0}
    places = {name: f"{(each - low) / (high - low) * 100:.1f}" for name, each in at.items()}
    return DeltaBar(width=f"{(most - least) / (high - low) * 100:.1f}", **places)


def as_blessed(item: Comparison) -> bool:
    """Whether every case of the baseline was scored again and came to the same: twelve rows of zeros would hide the one
    that is not."""
    return item.against == "baseline" and item.n > 0 and item.n >= item.of and not item.broke and not item.mended


def _comparison(run: Run, item: Comparison, lists: Lists, low: float, high: float) -> SimpleNamespace:
    """One comparison in words; `kind` is the verdict as a class name, `judged` whether the gate looks at it, `quiet`
    that no case got better or worse since the baseline. `now` and `was` are the two values, empty where unknown."""
    known = item.low is not None and item.high is not None
    values = {one.variant: value(one) for one in run.summaries if one.scorer == item.endpoint}
    pair = f"{item.left} against {item.right}"
    return SimpleNamespace(
        pair=pair,
        endpoint=item.endpoint,
        now=values.get(item.left, ""),
        was=values.get(item.right, ""),
        n=pairs(item),
        delta=change(item),
        interval=f"{points(item.low)} to {points(item.high)}" if known else NOTHING,
        bar=_bar(item, low, high),
        worse=lists.link(str(len(item.broke)), f"{item.endpoint}, {pair}: worse", item.broke),
        better=lists.link(str(len(item.mended)), f"{item.endpoint}, {pair}: better", item.mended),
        p=probability(item.p_holm),
        smallest=smallest_drop(item),
        verdict=item.verdict,
        kind=item.verdict.split()[0],
        judged=item.against == "baseline" or item.left == run.candidate,
        quiet=as_blessed(item),
        divergence=item.divergence,
    )


def secondary(run: Run) -> Table:
    """Every metric that is neither primary nor a cost, one row each."""
    scorers = [info for info in run.scorers if not info.primary and not info.name.startswith("cost.")]
    names = [info.variant.name for info in run.variants]
    found = {(item.variant, item.scorer): item for item in run.summaries}
    return Table(
        "Means over cases, with 95 % intervals",
        ("metric", "better", *names),
        tuple((info.name, info.better, *(amount(found[name, info.name], info) for name in names)) for info in scorers),
    )


def tools_that_ran(run: Run) -> str:
    """A sentence on tools of a target whose results are not recorded; empty where there are none."""
    calls = Counter(str(visit.node) for trial in run.trials for visit in trial.trace.visits if visit.ran)
    named = ", ".join(f"{name} ({counted(count, 'call')})" for name, count in sorted(calls.items()))
    return f"Tools that ran for real, since `tools` in evals.toml does not name them: {named}." if named else ""


def in_words(scope: Scope) -> str:
    """The sentences of terminal, Markdown and report."""
    parts = [f"{scope.selected} in this run"]
    if scope.unrecorded:
        parts.append(f"{len(scope.unrecorded)} of the {scope.cases} not recorded yet")
    if scope.sealed:
        parts.append(f"{len(scope.sealed)} held out")
    said = f"The dataset has {counted(scope.cases, 'case')}: {', '.join(parts)}."
    if not (scope.sealed or scope.openings):
        return said
    times = {0: "never been scored", 1: "been scored once"}.get(scope.openings, f"been scored {scope.openings} times")
    return f"{said} The held-out cases have {times}."
