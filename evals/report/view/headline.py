"""The headline table: primary metrics per variant, with floors and scope."""

from dataclasses import dataclass

from evals.models.run import Comparison, DatasetBaseline, Run, Scope, ScorerInfo, Summary, VariantInfo
from evals.report.numbers import (
    MINUS,
    NOTHING,
    amount,
    change,
    interval,
    pairs,
    percent,
    points,
    probability,
    smallest_drop,
    value,
)
from evals.report.view.cost_tables import token_note
from evals.report.view.page_parts import Table
from evals.statistics.rates import skill

ORACLE = "oracle"


def best_baseline(run: Run, endpoint: str) -> DatasetBaseline | None:
    """The strongest without a model on this endpoint; the oracle, which has read each case's labels, is no rival."""
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
    """Every baseline of the run's cases."""
    return Table(
        "What needs no model, on the cases of this run",
        ("baseline", "endpoint", "share", "of", "what it does", "chosen"),
        tuple(
            (item.name, item.endpoint, percent(item.share), str(item.n), item.definition, item.detail)
            for item in run.dataset_baselines
        ),
    )


@dataclass(frozen=True)
class IntervalBar:
    """An interval on a scale of 0 to 100: where it starts, how wide it is, where the value lies."""

    low: str
    width: str
    value: str


@dataclass(frozen=True)
class Cell:
    """One endpoint of one variant. `bounds` is empty where every case is on the tape, `skill` without a baseline."""

    value: str
    interval: str
    rests_on: str
    bounds: str
    skill: str
    bar: IntervalBar | None


@dataclass(frozen=True)
class VariantRow:
    """One variant: its part in the suite, what its trials rest on, and its endpoints."""

    name: str
    part: str
    prompt: str
    coverage: tuple[tuple[str, str], ...]
    covered: str
    complete: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Headline:
    """Endpoints, the variants' rows, and what the best router or search without a model reaches on each endpoint."""

    endpoints: tuple[str, ...]
    rows: tuple[VariantRow, ...]
    without_model: tuple[str, ...]


@dataclass(frozen=True)
class ComparisonRow:
    """One comparison in words; `kind` is the verdict as a class name, `judged` whether the gate looks at it, `quiet`
    that nothing flipped since the baseline."""

    pair: str
    endpoint: str
    n: str
    delta: str
    interval: str
    broke: tuple[str, ...]
    mended: tuple[str, ...]
    p: str
    smallest: str
    verdict: str
    kind: str
    judged: bool
    quiet: bool
    divergence: str


def headline(run: Run) -> Headline:
    """The table of variants by primary endpoints."""
    primary = [scorer.name for scorer in run.scorers if scorer.primary]
    found = {(item.variant, item.scorer): item for item in run.summaries}
    return Headline(
        tuple(primary),
        tuple(
            _row(run, index, [found[info.variant.name, name] for name in primary])
            for index, info in enumerate(run.variants)
        ),
        tuple(beaten(best_baseline(run, name)) for name in primary) if run.dataset_baselines else (),
    )


def _row(run: Run, index: int, summaries: list[Summary]) -> VariantRow:
    info = run.variants[index]
    name = info.variant.name
    covered = run.coverage[name]
    counts = {
        "exact": covered.exact,
        "frontier": covered.frontier,
        "unrecorded": covered.unrecorded,
        "failed": covered.failed,
    }
    return VariantRow(
        name=name,
        part=", ".join(
            part for part, holder in (("candidate", run.candidate), ("reference", run.reference)) if holder == name
        ),
        prompt=_prompt(info),
        coverage=tuple((label, str(count)) for label, count in counts.items() if count or label == "exact"),
        covered=f"{covered.exact} of {covered.total}",
        complete=covered.total > 0 and covered.exact == covered.total,
        cells=tuple(_cell(run, summary) for summary in summaries),
    )


def _prompt(info: VariantInfo) -> str:
    """What was configured; the usual supervisor goes without saying."""
    supervisor = info.variant.supervisor
    parts = [] if supervisor == "llm" else [f"supervisor {supervisor}"]
    parts += [f"prompt {info.prompt_version}"] if info.prompt_version else ["no prompt"]
    return ", ".join([*parts, f"guards {info.variant.guards}"])


def _cell(run: Run, summary: Summary) -> Cell:
    short = summary.pessimistic is not None and summary.pessimistic != summary.optimistic
    return Cell(
        value=value(summary),
        interval=interval(summary),
        rests_on=f"{summary.n} of {summary.total} cases",
        bounds=f"{percent(summary.pessimistic)} to {percent(summary.optimistic)}" if short else "",
        skill=skill_of(summary, best_baseline(run, summary.scorer)),
        bar=_bar(summary),
    )


def _bar(summary: Summary) -> IntervalBar | None:
    if summary.mean is None or summary.low is None or summary.high is None:
        return None
    return IntervalBar(
        f"{summary.low * 100:.1f}", f"{(summary.high - summary.low) * 100:.1f}", f"{summary.mean * 100:.1f}"
    )


def comparisons(run: Run) -> tuple[ComparisonRow, ...]:
    """Every comparison, in the order of the run."""
    return tuple(_comparison(run, item) for item in run.comparisons)


def as_blessed(item: Comparison) -> bool:
    """Whether every case of the baseline was scored again and came to the same: twelve rows of zeros would hide the one
    that is not."""
    return item.against == "baseline" and item.n > 0 and item.n >= item.of and not item.broke and not item.mended


def _comparison(run: Run, item: Comparison) -> ComparisonRow:
    known = item.low is not None and item.high is not None
    return ComparisonRow(
        pair=f"{item.left} against {item.right}",
        endpoint=item.endpoint,
        n=pairs(item),
        delta=change(item),
        interval=f"{points(item.low)} to {points(item.high)}" if known else NOTHING,
        broke=item.broke,
        mended=item.mended,
        p=probability(item.p_holm),
        smallest=smallest_drop(item),
        verdict=item.verdict,
        kind=item.verdict.split()[0],
        judged=item.against == "baseline" or item.left == run.candidate,
        quiet=as_blessed(item),
        divergence=item.divergence,
    )


def secondary(run: Run) -> Table:
    """Every other score, one row each."""
    return _scores(
        run,
        "All other scores",
        [info for info in run.scorers if not info.primary and not info.name.startswith("cost.")],
    )


def costs(run: Run) -> Table:
    """What a trial took, on average over the cases with an exact trial."""
    return _scores(
        run,
        f"Mean per case, over exact trials{token_note(run)}",
        [info for info in run.scorers if info.name.startswith("cost.")],
    )


def _scores(run: Run, caption: str, scorers: list[ScorerInfo]) -> Table:
    names = [info.variant.name for info in run.variants]
    found = {(item.variant, item.scorer): item for item in run.summaries}
    return Table(
        caption,
        ("score", "better", *names),
        tuple((info.name, info.better, *(amount(found[name, info.name], info) for name in names)) for info in scorers),
    )


@dataclass(frozen=True)
class ScopeView:
    """One sentence, and the cases it leaves out by name."""

    sentence: str
    unrecorded: tuple[str, ...]
    sealed: tuple[str, ...]


def scope_view(run: Run) -> ScopeView | None:
    """None for a run that does not know its dataset."""
    scope = run.scope
    return None if scope is None else ScopeView(in_words(scope), scope.unrecorded, scope.sealed)


def in_words(scope: Scope) -> str:
    """The sentence of terminal, Markdown and report."""
    parts = [f"{scope.selected} of the dataset's {scope.cases} cases are in this run"]
    if scope.unrecorded:
        parts.append(f"{len(scope.unrecorded)} of the {scope.cases} have no recording yet")
    if scope.sealed:
        parts.append(f"{len(scope.sealed)} of the suite's cases are held out")
    parts.append(f"the holdout has {_opened(scope.openings)}")
    return "; ".join(parts) + "."


def _opened(count: int) -> str:
    return {0: "never been opened", 1: "been opened once"}.get(count, f"been opened {count} times")
