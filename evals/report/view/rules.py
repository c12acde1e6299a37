"""Why the routes of a case pass or fail: a row per rule, a column per trial.

Many cases have the same rules, and many routes fare alike: a table is a *sheet* of rules, kept once, and a line of
cells for each trial.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.outcome import Scored
from evals.models.route import RouteAlternative, RouteReading, RuleShare
from evals.models.run import CaseInfo, Trial
from evals.reasons.words import Rule, read_words, rules_named, rules_of
from evals.report.numbers import percent
from evals.report.view.texts import Texts
from evals.routes.check import HARD_MAX_ID, MAX_ID

LENGTHS: Final = (MAX_ID, HARD_MAX_ID)


@dataclass(frozen=True)
class RuleSheet:
    """The rules of an alternative and the names of the trials that are held against them."""

    title: str
    columns: tuple[str, ...]
    rules: tuple[Rule, ...]


class RuleSheets:
    """A pool of sheets. `add` gives the number by which the page finds one."""

    def __init__(self) -> None:
        self._numbers: dict[RuleSheet, str] = {}

    def add(self, sheet: RuleSheet) -> str:
        """The number of the sheet, which equal ones share."""
        return self._numbers.setdefault(sheet, str(len(self._numbers)))

    def all(self) -> tuple[RuleSheet, ...]:
        """The sheets in order of their numbers."""
        return tuple(self._numbers)


@dataclass(frozen=True)
class RuleTable:
    """The number of a sheet, and that of a text: a line for each of its trials, a cell per rule, divided by tabs."""

    sheet: str
    cells: str


def rule_tables(case: CaseInfo, trials: Sequence[Trial], sheets: RuleSheets, texts: Texts) -> tuple[RuleTable, ...]:
    """A table per alternative that counts for some trial; none where a run was stored without rules."""
    tables = []
    for index, alternative in enumerate(case.route_spec.alternatives if case.route_spec else ()):
        read = [(trial, trial.reading) for trial in trials if trial.reading and trial.reading.alternative == index]
        if read:
            columns = tuple(_name(trial) for trial, _ in read)
            sheet = RuleSheet(_title(case, index), columns, rules_of(alternative))
            lines = ("\t".join(rule_cells(reading, sheet.rules)) for _, reading in read)
            tables.append(RuleTable(sheets.add(sheet), texts.add("\n".join(lines))))
    return tuple(tables)


def rule_cells(reading: RouteReading, rules: Sequence[Rule]) -> Iterator[str]:
    """How a route fares by each rule, and `alone` where that decides."""
    for place, rule in enumerate(rules):
        kept = _kept(rule.id not in reading.breaks) if rule.id in LENGTHS else _share(reading.shares[place])
        yield f"{kept} alone" if rule.id in reading.decides else kept


def reason(reading: RouteReading, alternative: RouteAlternative, *, passed: bool) -> str:
    """In one sentence why a route fails, or what it got away with; empty where it breaks nothing."""
    rules = rules_named(alternative, reading.breaks)
    told = {name: f"{name} ({rules[name].force}: {rules[name].asks})" for name in reading.breaks}
    if not told:
        return ""
    return f"passes, although it breaks {', '.join(told.values())}" if passed else f"fails{_failing(reading, told)}"


def _failing(reading: RouteReading, told: Mapping[str, str]) -> str:
    """What keeps a route from passing: one rule alone, any one of several, or only several together."""
    alone = [told[name] for name in reading.decides]
    others = [words for name, words in told.items() if name not in reading.decides]
    also = f"; it also breaks {', '.join(others)}" if others else ""
    if not alone:
        return f" by more than one rule: {', '.join(others)}"
    return f" by {alone[0]} alone{also}" if len(alone) == 1 else f"; to keep any one would do: {', '.join(alone)}{also}"


def reason_of(trial: Trial, case: CaseInfo) -> str:
    """The sentence for a trial; empty where a run was stored without rules."""
    if trial.reading is None or case.route_spec is None:
        return ""
    outcome = trial.outcomes.get("route.pass")
    passed = isinstance(outcome, Scored) and outcome.value == 1
    return reason(trial.reading, case.route_spec.alternatives[trial.reading.alternative], passed=passed)


def figures(reading: RouteReading, fitness: float) -> tuple[str, ...]:
    """The fitness that the rules come to, and what the guards of conditional ones read."""
    return f"F {fitness:.3g}", *(read_words(field, value) for field, value in reading.read.items())


def figures_of(trial: Trial) -> tuple[str, ...]:
    """The same of a trial; nothing where a run was stored without rules."""
    fitness = trial.outcomes.get("route.fitness")
    return figures(trial.reading, fitness.value) if trial.reading and isinstance(fitness, Scored) else ()


def _kept(kept: bool) -> str:  # noqa: FBT001 - yes or no is all there is
    return "✓" if kept else "✗"


def _share(share: RuleShare) -> str:
    return share if isinstance(share, str) else "✓" if share == 1 else f"✗ {percent(share)}"


def _name(trial: Trial) -> str:
    sample = trial.trace.sample
    return f"{trial.trace.variant} sample {sample + 1}" if sample else trial.trace.variant


def _title(case: CaseInfo, index: int) -> str:
    count = len(case.route_spec.alternatives) if case.route_spec else 0
    return f"Rules of the route, alternative {index + 1} of {count}" if count > 1 else "Rules of the route"
