"""Cases in dispute: right answers that all offend one rule of the label, and wrong answers whose route passes."""

from collections.abc import Mapping, Sequence
from typing import Final

from evals.models.dispute import Answer, Disputed, RuleInfo
from evals.models.outcome import Scored
from evals.models.run import CaseInfo, Trial
from evals.reasons.breaches import rules_broken
from evals.reasons.pool import Pool

OUTCOMES: Final = {"root_cause.hit": "root cause", "root_cause.category": "category"}


def suspect_labels(pool: Pool) -> tuple[Disputed, ...]:
    """Cases that everybody who was scored got right, and whose route breaks the same rule under all of them; those
    that it alone fails most often come first."""
    found = []
    for case, trials in _by_case(pool).items():
        if trials and not any(_passed(trial) or _wrong(trial) for _, trial in trials):
            rules = _common(pool.cases[case], [trial for _, trial in trials])
            if rules:
                found.append(_disputed(pool.cases[case], rules, trials))
    return tuple(sorted(found, key=lambda item: (-item.rules[0].alone, -len(item.answers), item.case)))


def lax_routes(pool: Pool) -> tuple[Disputed, ...]:
    """Cases with a wrong outcome by a route that passes; those with most of them first."""
    found = []
    for case, trials in _by_case(pool).items():
        guilty = [(who, trial) for who, trial in trials if _passed(trial) and _wrong(trial)]
        if guilty:
            found.append(_disputed(pool.cases[case], (), guilty))
    return tuple(sorted(found, key=lambda item: (-len(item.answers), item.case)))


def _by_case(pool: Pool) -> Mapping[str, Sequence[tuple[str, Trial]]]:
    """The exact trials whose route and root cause were scored."""
    found: dict[str, list[tuple[str, Trial]]] = {case: [] for case in pool.cases}
    for who, trial in pool.exact:
        if all(isinstance(trial.outcomes.get(name), Scored) for name in ("route.pass", "root_cause.hit")):
            found[trial.trace.case_id].append((who, trial))
    return found


def _answer(who: str, trial: Trial) -> Answer:
    trace, reading = trial.trace, trial.reading
    return Answer(
        who=who,
        sample=trace.sample,
        route=trace.route,
        confidence=trace.confidence_before_writer,
        passed=_passed(trial),
        breaks=reading.breaks if reading else (),
        decides=reading.decides if reading else (),
        wrong=_wrong(trial),
        said=trace.report.root_cause if trace.report else "",
    )


def _passed(trial: Trial) -> bool:
    return _value(trial, "route.pass") == 1


def _wrong(trial: Trial) -> tuple[str, ...]:
    return tuple(words for name, words in OUTCOMES.items() if _value(trial, name) not in (1, None))


def _value(trial: Trial, scorer: str) -> float | None:
    outcome = trial.outcomes.get(scorer)
    return outcome.value if isinstance(outcome, Scored) else None


def _common(case: CaseInfo, trials: Sequence[Trial]) -> tuple[RuleInfo, ...]:
    """The rules that every trial breaks, the one that most often alone decides first."""
    readings = [trial.reading for trial in trials if trial.reading is not None]
    if len(readings) < len(trials):
        return ()
    shared = set.intersection(*(set(reading.breaks) for reading in readings))
    rules = rules_broken(case, readings[0])
    found = [
        RuleInfo(**rules[name]._asdict(), alone=sum(name in reading.decides for reading in readings))
        for name in readings[0].breaks
        if name in shared and name in rules
    ]
    return tuple(sorted(found, key=lambda rule: -rule.alone))


def _disputed(case: CaseInfo, rules: tuple[RuleInfo, ...], trials: Sequence[tuple[str, Trial]]) -> Disputed:
    return Disputed(
        case=case.id,
        split=case.split,
        archetype=case.archetype,
        root_cause=case.root_cause,
        rules=rules,
        answers=tuple(_answer(who, trial) for who, trial in trials),
    )
