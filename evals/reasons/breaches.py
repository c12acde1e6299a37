"""Which rules routes break, and in how many trials each of them alone decides the verdict."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from evals.models.route import RouteReading
from evals.models.run import CaseInfo, Trial
from evals.reasons.words import Rule, rules_named


class Break(NamedTuple):
    """One trial that breaks a rule: who answered, which case, and whether it would have passed but for this rule."""

    who: str
    case_id: str
    alone: bool


@dataclass(frozen=True)
class Breach:
    """A rule that some route breaks. `rule.asks` is empty where it asks of each case something else."""

    rule: Rule
    breaks: tuple[Break, ...]

    def broken_by(self, who: str) -> tuple[str, ...]:
        """The case of each trial that breaks it."""
        return tuple(each.case_id for each in self.breaks if each.who == who)

    def decided_alone(self, who: str) -> tuple[str, ...]:
        """The case of each trial that would have passed but for this rule."""
        return tuple(each.case_id for each in self.breaks if each.who == who and each.alone)

    @property
    def weight(self) -> tuple[int, int]:
        """How much it matters: trials it decides alone, then trials that break it."""
        return sum(each.alone for each in self.breaks), len(self.breaks)


def breaches(trials: Iterable[tuple[str, Trial]], cases: Mapping[str, CaseInfo]) -> tuple[Breach, ...]:
    """Every rule that a route breaks, the one that decides most verdicts alone first; `trials` with who answered."""
    found: dict[tuple[str, str], list[tuple[Rule, Break]]] = {}
    for who, trial in trials:
        for rule, broken in _broken(who, trial, cases[trial.trace.case_id]):
            found.setdefault((rule.id, rule.force), []).append((rule, broken))
    ranked = [_breach(group) for group in found.values()]
    return tuple(sorted(ranked, key=lambda breach: (*(-count for count in breach.weight), breach.rule.id)))


def rules_broken(case: CaseInfo, reading: RouteReading) -> dict[str, Rule]:
    """The rules that a route breaks, by id; none where a run was stored without them."""
    spec = case.route_spec
    return rules_named(spec.alternatives[reading.alternative], reading.breaks) if spec else {}


def _broken(who: str, trial: Trial, case: CaseInfo) -> Iterator[tuple[Rule, Break]]:
    if trial.reading is None:
        return
    rules = rules_broken(case, trial.reading)
    for name in trial.reading.breaks:
        if name in rules:
            yield rules[name], Break(who, case.id, alone=name in trial.reading.decides)


def _breach(group: list[tuple[Rule, Break]]) -> Breach:
    rule = group[0][0]
    same = all(other.asks == rule.asks for other, _ in group)
    return Breach(rule if same else rule._replace(asks=""), tuple(broken for _, broken in group))
