"""Table of localisation as published evaluations score it."""

from typing import TYPE_CHECKING

from evals.models.run import Run
from evals.report.numbers import NOTHING, percent
from evals.report.view.page_parts import Table
from evals.statistics.rates import format_rate

if TYPE_CHECKING:
    from evals.triage.localisation.localisation_scores import Accuracy, Metric


LEGEND = (
    "Acc@k as in LocAgent's published evaluation: all gold is among the first k that the report names, or, where there "
    "is more of it, the first k are all gold. Functions count by their whole names (Class.method, a constructor as its "
    "class). 95 % intervals. Other people's numbers are of all rows of their benchmark: compare only where "
    "these are the same."
)


def published_table(run: Run) -> Table:
    """A row per variant; none where no case is an imported one with gold."""
    sources = [case.published.source for case in run.cases if case.published]
    if not sources:
        return Table("", (), ())
    from evals.triage.localisation.localisation_scores import accuracies  # noqa: PLC0415 - numpy, which a report over ours does not need

    rows = [(info.variant.name, accuracies(run, info.variant.name)) for info in run.variants]
    found = next((each for _, each in rows if each), ())
    return Table(
        f"Localisation over {len(sources)} cases whose fix is known ({', '.join(sorted(set(sources)))})",
        ("variant", *(_heading(one.metric) for one in found)),
        tuple((name, *map(published_cell, each)) for name, each in rows if each),
    )


def _heading(metric: "Metric") -> str:
    return metric.name if "@" in metric.name else f"{metric.name} (ours)"


def published_cell(found: "Accuracy") -> str:
    """Value, interval, and the rows it was made of."""
    metric, rests_on = found.metric, f"n={found.metric.n}/{found.of}"
    if metric.value is None:
        return f"{NOTHING} {rests_on}"
    counted = f"{format_rate(metric.hits, metric.n, 0)} ({metric.hits}/{metric.n})" if metric.hits is not None else None
    interval = f" [{percent(metric.interval.low)}, {percent(metric.interval.high)}]" if metric.interval else ""
    return f"{counted or percent(metric.value)}{interval} {rests_on}"
