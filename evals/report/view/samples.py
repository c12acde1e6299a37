"""Several samples of one case: whether a variant does the same thing twice."""

from evals.models.run import Run
from evals.models.sampling import Agreement, PassHat, Redraw, SampleAgreement
from evals.report.numbers import NOTHING, percent
from evals.report.view.table import Table


def sample_table(run: Run) -> Table:
    """pass^k and agreement by variant; no row where every case was run once."""
    names = [each.variant for each in run.samples]
    if not names:
        return Table("", (), ())
    rows = [
        (f"{first.endpoint}, pass^{k}", *(_chance(each.pass_hat[index], k) for each in run.samples))
        for index, first in enumerate(run.samples[0].pass_hat)
        for k in range(1, run.samples[0].samples + 1)
    ]
    rows.append(("frozen decisions all samples agree on", *(_share(each.decisions) for each in run.samples)))
    rows.append(("cases all samples take one route in", *(_share(each.routes) for each in run.samples)))
    return Table(f"{run.samples[0].samples} samples of every case", ("over samples", *names), tuple(rows))


def in_words(found: SampleAgreement) -> str:
    """One line for a terminal or a comment."""
    chances = [f"{each.endpoint} pass^{found.samples} {_chance(each, found.samples)}" for each in found.pass_hat]
    return (
        f"{found.variant}, {found.samples} samples per case: {', '.join(chances)}; all samples agree on "
        f"{_share(found.decisions)} frozen decisions and on the route of {_share(found.routes)} cases"
    )


def redraw_table(run: Run) -> Table:
    """What one sample a side would have said, endpoint by endpoint; no row where every case was run once."""
    rows = [(each.endpoint, _counted(each)) for each in run.redraws]
    return Table(
        f"{run.candidate} against {run.reference} with one sample a side, every way to draw them",
        ("endpoint", "the comparison says, in so many draws"),
        tuple(rows),
    )


def redraws_in_words(run: Run) -> str:
    """One line for a terminal or a comment; empty where every case was run once."""
    said = [f"{each.endpoint} {_counted(each)}" for each in run.redraws]
    if not said:
        return ""
    sides = f"{run.candidate} against {run.reference} in {run.redraws[0].draws} draws"
    return f"with one sample a side, {sides}: {'; '.join(said)}"


def _counted(found: Redraw) -> str:
    ranked = sorted(found.verdicts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{verdict} {count}" for verdict, count in ranked)


def _chance(found: PassHat, k: int) -> str:
    return f"{percent(found.values[k - 1])} ({found.cases} cases)" if found.values else NOTHING


def _share(found: Agreement) -> str:
    return f"{found.agreed} of {found.of}" if found.of else NOTHING
