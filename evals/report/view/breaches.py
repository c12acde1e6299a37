"""Why routes fail: the rules they break, by variant, with the cases behind each number."""

from dataclasses import dataclass
from typing import Final

from evals.models.run import Run
from evals.reasons.breaches import Breach, breaches
from evals.report.numbers import NOTHING
from evals.report.view.lists import ListLink, Lists
from evals.report.view.table import Table

MOST: Final = 5
"""Rules shown where there is little room; more are counted."""


@dataclass(frozen=True)
class BreachRow:
    """A rule; per variant the trials that break it, and those it alone decides."""

    rule: str
    asks: str
    force: str
    cells: tuple[tuple[ListLink, ListLink], ...]


@dataclass(frozen=True)
class BreachTable:
    """All broken rules; `heads` name each variant with how many of its trials were read."""

    heads: tuple[str, ...]
    rows: tuple[BreachRow, ...]
    known: bool


def breach_rows(run: Run, lists: Lists) -> BreachTable:
    """One row per rule that some route breaks, the one that decides most verdicts first."""
    read = _read(run)
    return BreachTable(
        tuple(f"{name} ({count} trials)" for name, count in read.items()),
        tuple(
            BreachRow(
                found.rule.id, found.rule.asks, found.rule.force, tuple(_links(found, name, lists) for name in read)
            )
            for found in _breaches(run)
        ),
        known=any(read.values()),
    )


def breach_table(run: Run) -> Table:
    """The commonest reasons in a few rows, for terminal and summary; no row where no route breaks a rule."""
    found, read = _breaches(run), _read(run)
    more = f"; {len(found) - MOST} rarer ones are in the report" if len(found) > MOST else ""
    return Table(
        f"Why routes fail: trials that break a rule (hard or soft, its weight), and how many it alone decides{more}",
        ("rule", *read),
        tuple(
            (f"{each.rule.id} ({each.rule.force})", *(_cell(each, name, count) for name, count in read.items()))
            for each in found[:MOST]
        ),
    )


def _read(run: Run) -> dict[str, int]:
    """Variant -> how many of its trials tell why."""
    names = [info.variant.name for info in run.variants]
    told = [trial.trace.variant for trial in run.trials if trial.reading is not None]
    return {name: told.count(name) for name in names}


def _breaches(run: Run) -> tuple[Breach, ...]:
    return breaches(((trial.trace.variant, trial) for trial in run.trials), {case.id: case for case in run.cases})


def _links(found: Breach, name: str, lists: Lists) -> tuple[ListLink, ListLink]:
    broken, alone = found.broken_by(name), found.decided_alone(name)
    title = f"{found.rule.id}, {name}"
    return (
        lists.link(str(len(broken)), f"{title}: broken", broken),
        lists.link(str(len(alone)), f"{title}: decides alone", alone),
    )


def _cell(found: Breach, name: str, count: int) -> str:
    broken, alone = len(found.broken_by(name)), len(found.decided_alone(name))
    return f"{broken} of {count} trials, {alone} alone" if count else NOTHING
