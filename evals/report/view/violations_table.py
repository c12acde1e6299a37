"""Tables of violated constraints."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.case import RouteAlternative, RouteNode, RouteReading, RuleShare
from evals.models.metrics import Scored
from evals.models.run import CaseInfo, Run, Trial
from evals.report.numbers import NOTHING, percent
from evals.report.view.page_parts import ListLink, Lists, Pool, Table, Texts
from evals.routes.route_check import (
    HARD_MAX_ID,
    MAX_ID,
    ROUTE_FITNESS,
    ROUTE_PASSES,
    Breach,
    RouteRule,
    breaches,
    read_words,
    rules_named,
    rules_of,
)

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


def breach_rows(run: Run, lists: Lists, variants: Collection[str] = ()) -> BreachTable:
    """One row per constraint that some route of these variants (of all if none is given) violates, the one that decides
    most verdicts first."""
    read = {name: count for name, count in _read(run).items() if not variants or name in variants}
    return BreachTable(
        tuple(f"{name} ({count} trials)" for name, count in read.items()),
        tuple(
            BreachRow(
                found.rule.id, found.rule.asks, found.rule.force, tuple(_links(found, name, lists) for name in read)
            )
            for found in _breaches(run)
            if any(found.broken_by(name) for name in read)
        ),
        known=any(read.values()),
    )


def breach_table(run: Run) -> Table:
    """The commonest reasons in a few rows, for terminal and summary; no row where no route breaks a rule."""
    found, read = _breaches(run), _read(run)
    more = f"; {len(found) - MOST} rarer ones are in the report" if len(found) > MOST else ""
    return Table(
        f"Why routes fail: trials that violate a constraint (hard or soft, weight), and those it alone decides{more}",
        ("constraint", *read),
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
        lists.link(str(len(broken)), f"{title}: violated", broken),
        lists.link(str(len(alone)), f"{title}: decides alone", alone),
    )


def _cell(found: Breach, name: str, count: int) -> str:
    broken, alone = len(found.broken_by(name)), len(found.decided_alone(name))
    return f"{broken} of {count} trials, {alone} alone" if count else NOTHING


LENGTHS: Final = (MAX_ID, HARD_MAX_ID)


@dataclass(frozen=True)
class RuleSheet:
    """The rules of an alternative and the names of the trials that are held against them."""

    title: str
    columns: tuple[str, ...]
    rules: tuple[RouteRule, ...]


RuleSheets = Pool[RuleSheet]


@dataclass(frozen=True)
class RuleTable:
    """The number of a sheet, and that of a text: a line for each of its trials, a cell per rule, divided by tabs."""

    sheet: str
    cells: str


def rule_tables(case: CaseInfo, trials: Sequence[Trial], sheets: RuleSheets, texts: Texts) -> tuple[RuleTable, ...]:
    """A table per alternative that counts for some trial; none where a run was stored without rules."""
    tables = []
    nodes = case.route_spec.node_caps if case.route_spec else {}
    for index, alternative in enumerate(case.route_spec.alternatives if case.route_spec else ()):
        read = [(trial, trial.reading) for trial in trials if trial.reading and trial.reading.alternative == index]
        if read:
            columns = tuple(_name(trial) for trial, _ in read)
            sheet = RuleSheet(_title(case, index), columns, rules_of(alternative, nodes))
            lines = ("\t".join(rule_cells(reading, sheet.rules)) for _, reading in read)
            tables.append(RuleTable(sheets.add(sheet), texts.add("\n".join(lines))))
    return tuple(tables)


def rule_cells(reading: RouteReading, rules: Sequence[RouteRule]) -> Iterator[str]:
    """How a route fares by each rule, and `alone` where that decides."""
    for place, rule in enumerate(rules):
        kept = _kept(rule.id not in reading.breaks) if rule.id in LENGTHS else _share(reading.shares[place])
        yield f"{kept} alone" if rule.id in reading.decides else kept


def reason(
    reading: RouteReading, alternative: RouteAlternative, nodes: Collection[RouteNode] = (), *, passed: bool
) -> str:
    """In one sentence why a route fails, or what it got away with; empty where it breaks nothing."""
    rules = rules_named(alternative, reading.breaks, nodes)
    told = {name: f"{name} ({rules[name].force}: {rules[name].asks})" for name in reading.breaks}
    if not told:
        return ""
    return f"passes, although it violates {', '.join(told.values())}" if passed else f"fails{_failing(reading, told)}"


def _failing(reading: RouteReading, told: Mapping[str, str]) -> str:
    """What keeps a route from passing: one rule alone, any one of several, or only several together."""
    alone = [told[name] for name in reading.decides]
    others = [words for name, words in told.items() if name not in reading.decides]
    also = f"; it also violates {', '.join(others)}" if others else ""
    if not alone:
        return f" by more than one constraint: {', '.join(others)}"
    return f" by {alone[0]} alone{also}" if len(alone) == 1 else f"; to keep any one would do: {', '.join(alone)}{also}"


def reason_of(trial: Trial, case: CaseInfo) -> str:
    """The sentence for a trial; empty where a run was stored without rules."""
    if trial.reading is None or case.route_spec is None:
        return ""
    outcome = trial.outcomes.get(ROUTE_PASSES)
    passed = isinstance(outcome, Scored) and outcome.value == 1
    spec = case.route_spec
    return reason(trial.reading, spec.alternatives[trial.reading.alternative], spec.node_caps, passed=passed)


def figures(reading: RouteReading, fitness: float) -> tuple[str, ...]:
    """The fitness that the rules come to, and what the guards of conditional ones read."""
    return f"F {fitness:.3g}", *(read_words(field, value) for field, value in reading.read.items())


def figures_of(trial: Trial) -> tuple[str, ...]:
    """The same of a trial; nothing where a run was stored without rules."""
    fitness = trial.outcomes.get(ROUTE_FITNESS)
    return figures(trial.reading, fitness.value) if trial.reading and isinstance(fitness, Scored) else ()


def _kept(kept: bool) -> str:  # noqa: FBT001 - yes or no is all there is
    return "✓" if kept else "✗"


def _share(share: RuleShare) -> str:
    return share if isinstance(share, str) else "✓" if share == 1 else f"✗ {percent(share)}"


def _name(trial: Trial) -> str:
    sample = trial.trace.sample
    return f"{trial.trace.variant} repeat {sample + 1}" if sample else trial.trace.variant


def _title(case: CaseInfo, index: int) -> str:
    count = len(case.route_spec.alternatives) if case.route_spec else 0
    return f"Constraints of the route, alternative {index + 1} of {count}" if count > 1 else "Constraints of the route"
