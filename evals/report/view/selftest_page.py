"""The page of a self-test, and the table of what each metric can show."""

from collections.abc import Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Final

from evals.analysis.metric_power import MetricPower, recommended
from evals.models.analysis_results import RedRate, SelfTest
from evals.report.numbers import NOTHING, percent
from evals.report.view.page_parts import Table, without_empty
from evals.statistics.rates import format_rate

NO_REPEATS: Final = (
    "This suite has no recorded repeats: generated outcomes stand in for newly recorded answers, without slices, leaks "
    "and cases that must pass."
)


def selftest_page(result: SelfTest) -> SimpleNamespace:
    """The view of a self-test. Pure: the same result gives the same page."""
    return SimpleNamespace(
        suite=result.suite,
        candidate=result.candidate,
        sentence=result.sentence,
        kind="worse" if result.complaints else "not-worse",
        again=again(result),
        faults=faults(result),
        power=power(result),
    )


def faults(result: SelfTest) -> Table:
    """One row per planted fault."""
    return Table(
        f"Faults planted in {result.candidate} of {result.suite}",
        ("fault", "what is done", "the gate says", "caught"),
        tuple((fault.name, fault.what, fault.said, fault.caught) for fault in result.faults),
    )


def power(result: SelfTest) -> Table:
    """Red verdicts on recorded repeats and on generated outcomes: none planted, then as many losses as the heading
    says."""
    losses = sorted({rate.flips for rate in result.rates if rate.flips})
    return Table(
        "Power: share of draws the gate calls worse",
        ("outcomes", "lost in", "cases", "churn", "nothing planted", *(f"{flips} lost" for flips in losses)),
        tuple(
            (outcomes, planted, str(cases), percent(churn), *_cells(list(row), losses))
            for (outcomes, planted, cases, churn), row in groupby(sorted(result.rates, key=_row), key=_row)
        ),
    )


def _cells(row: list[RedRate], losses: list[int]) -> list[str]:
    found = {rate.flips: _share(rate) for rate in row}
    return [found.get(flips, "") for flips in (0, *losses)]


def again(result: SelfTest) -> str:
    """What came of replaying twice, and how often nothing at all was called worse."""
    alarms = ", ".join(f"{_share(rate)} of {rate.cases} cases ({rate.outcomes})" for rate in result.alarms)
    known = any(rate.outcomes == "recorded repeats" for rate in result.alarms)
    missing = "" if known else f" {NO_REPEATS}"
    return (
        f"A/A replayed: {result.total - len(result.unlike)} of {result.total} traces of {result.reference} are the "
        f"same when replayed again. False alarms: {alarms}; alpha is {percent(result.alpha)}.{missing}"
    )


def _row(rate: RedRate) -> tuple[str, str, int, float]:
    return rate.outcomes, rate.planted, rate.cases, rate.churn


def _share(rate: RedRate) -> str:
    if rate.low is None or rate.high is None:
        return "always" if rate.red else "never"
    return f"{format_rate(rate.red, rate.draws, 0)} [{percent(rate.low)}, {percent(rate.high)}]"


def power_table(powers: Sequence[MetricPower], caption: str) -> Table:
    """One row per metric; columns without any value are left out."""
    rows = tuple(
        (
            f"{item.metric}{' *' if item.primary else ''}",
            str(item.cases),
            *map(percent, (item.mean, item.headroom, item.noise, item.detectable)),
            f"{item.cases_for_margin:,}" if item.cases_for_margin else NOTHING,
            f"as {item.same_as}" if item.same_as else item.use,
        )
        for item in powers
    )
    head = ("metric (* primary)", "n", "mean", "room", "noise", "drop", "cases", "use")
    return without_empty(Table(caption, head, rows), rows=False)


def recommendation(powers: Sequence[MetricPower]) -> str:
    """Which metrics to decide by, and which of the present ones cannot show a gain."""
    decide = recommended(powers)
    said = f"Primary metrics that could decide: {', '.join(decide)}." if decide else "No metric could show a gain."
    ceiling = [item.metric for item in powers if item.primary and item.use == "losses only"]
    return said + (f" Primary now, and shows losses only: {', '.join(ceiling)}." if ceiling else "")
