"""What needs no model, beside the scores of what does."""

from evals.models.run import DatasetBaseline, Run, Summary
from evals.report.numbers import MINUS, NOTHING, percent
from evals.report.view.table import Table
from evals.stats.skill import skill

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
