"""Why the routes of a case pass or fail: a row per rule, a column per trial."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from evals.models.outcome import Scored
from evals.models.route import RouteAlternative, RouteReading, RuleShare
from evals.models.run import CaseInfo, Trial
from evals.report.numbers import percent
from evals.report.view.texts import Texts
from evals.routes.check import HARD_MAX_ID, MAX_ID, PASS_FITNESS
from evals.routes.words import field_words, read_words, rules_of

LENGTHS: Final = (MAX_ID, HARD_MAX_ID)


@dataclass(frozen=True)
class RuleTable:
    """The rules of one alternative against the trials that were read under it. `rows` is the number of a text: a line
    per rule, its cells divided by tabs."""

    title: str
    columns: tuple[str, ...]
    rows: str


class Read(NamedTuple):
    """A route as it was read: rule by rule, how many visits it has, and its fitness."""

    reading: RouteReading
    visits: int
    fitness: float | None


def rule_tables(case: CaseInfo, trials: Sequence[Trial], texts: Texts) -> tuple[RuleTable, ...]:
    """A table per alternative that counts for some trial; none where a run was stored without rules."""
    tables = []
    for index, alternative in enumerate(case.route_spec.alternatives if case.route_spec else ()):
        read = [(trial, trial.reading) for trial in trials if trial.reading and trial.reading.alternative == index]
        if read:
            rows = rule_rows(alternative, [_read(trial, reading) for trial, reading in read])
            lines = ("\t".join(" ".join(cell.split()) for cell in row) for row in rows)
            tables.append(RuleTable(_title(case, index), tuple(_name(t) for t, _ in read), texts.add("\n".join(lines))))
    return tuple(tables)


def rule_rows(alternative: RouteAlternative, read: Sequence[Read]) -> Iterator[tuple[str, ...]]:
    """Cells of every rule (its id, what it asks, how much it weighs, one for each route), then of the fitness that they
    come to, then of what guards read."""
    for place, rule in enumerate(rules_of(alternative)):
        yield rule.id, rule.asks, rule.force, *(_cell(each, place, rule.id) for each in read)
    yield "F", f"fitness, at least {PASS_FITNESS:g}", "", *(_number(each.fitness) for each in read)
    for field in read[0].reading.read:
        yield field_words(field), "what guards read", "", *(_number(each.reading.read.get(field)) for each in read)


def reason(reading: RouteReading, alternative: RouteAlternative, *, passed: bool) -> str:
    """In one sentence why a route fails, or what it got away with; empty where it breaks nothing."""
    rules = {rule.id: rule for rule in rules_of(alternative)}
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


def readings(reading: RouteReading | None) -> str:
    """What the guards of conditional rules read; empty where none reads anything."""
    return "; ".join(read_words(field, value) for field, value in reading.read.items()) if reading else ""


def _read(trial: Trial, reading: RouteReading) -> Read:
    outcome = trial.outcomes.get("route.fitness")
    return Read(reading, len(trial.trace.visits), outcome.value if isinstance(outcome, Scored) else None)


def _cell(read: Read, place: int, name: str) -> str:
    if name in LENGTHS:
        told = f"{'✗' if name in read.reading.breaks else '✓'} {read.visits}"
    else:
        told = _share(read.reading.shares[place])
    return f"{told} alone" if name in read.reading.decides else told


def _share(share: RuleShare) -> str:
    return share if isinstance(share, str) else "✓" if share == 1 else f"✗ {percent(share)}"


def _number(value: float | None) -> str:
    return "not recorded" if value is None else f"{value:.3g}"


def _name(trial: Trial) -> str:
    sample = trial.trace.sample
    return f"{trial.trace.variant} sample {sample + 1}" if sample else trial.trace.variant


def _title(case: CaseInfo, index: int) -> str:
    count = len(case.route_spec.alternatives) if case.route_spec else 0
    return f"Rules of the route, alternative {index + 1} of {count}" if count > 1 else "Rules of the route"
