"""The numbers at the top: every variant on every primary endpoint, with what each number rests on."""

from dataclasses import dataclass

from evals.models.run import Comparison, Run, ScorerInfo, Summary, VariantInfo
from evals.report.numbers import (
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
from evals.report.view.baselines import beaten, best_baseline, skill_of
from evals.report.view.costs import token_note
from evals.report.view.table import Table


@dataclass(frozen=True)
class Bar:
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
    bar: Bar | None


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


def _bar(summary: Summary) -> Bar | None:
    if summary.mean is None or summary.low is None or summary.high is None:
        return None
    return Bar(f"{summary.low * 100:.1f}", f"{(summary.high - summary.low) * 100:.1f}", f"{summary.mean * 100:.1f}")


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
