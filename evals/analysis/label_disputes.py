"""Label disputes: cases in which many answers disagree with the label, with the evidence for both sides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evals.application_pack import load_pack
from evals.comparison.baseline import value_of
from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.case import Choice, RouteNode, Split
from evals.models.metrics import Scored
from evals.models.run import CaseInfo, PointInfo, Run, Trial
from evals.models.trace import PointAnswer
from evals.routes.route_check import Breach, breaches, rules_broken


class RuleInfo(Closed):
    """A rule of a route; `weight` is None for a limit on its length. `alone` counts the answers it alone fails."""

    id: str
    asks: str
    hard: bool
    weight: float | None
    alone: int


class DisputedAnswer(Closed):
    """One exact trial: who answered, the way it went, and the confidence at the decision that ended it.
    `wrong` names what its outcome gets wrong, `said` is what it says instead."""

    who: str
    sample: int
    route: tuple[RouteNode, ...]
    confidence: float | None
    passed: bool
    breaks: tuple[str, ...]
    decides: tuple[str, ...]
    wrong: tuple[str, ...]
    said: str


class Disputed(Closed):
    """A case in dispute, with its label and its answers. `rules` are those that every answer breaks; none where it is
    the route that may be too lax."""

    case: str
    split: Split
    slice: str
    label: str
    rules: tuple[RuleInfo, ...]
    answers: tuple[DisputedAnswer, ...]


class DecidingRule(Closed):
    """A rule that alone decides `rule.alone` of `trials` verdicts, and is broken in `broken`; with the cases it
    decides."""

    rule: RuleInfo
    broken: int
    trials: int
    cases: tuple[str, ...]


class Choosing(Closed):
    """One answer to a frozen state."""

    who: str
    sample: int
    confidence: float | None
    reasoning: str


class DisputedPoint(Closed):
    """A frozen state in which all chose the same node, and the label would have another. `grade` is what it gives for
    theirs, 0 where it does not accept it."""

    case: str
    split: Split
    slice: str
    point: str
    chosen: Choice
    grade: float
    accept: dict[Choice, float]
    why: str
    answers: tuple[Choosing, ...]


class Disputes(Closed):
    """Ranked, the strongest suspicion first: labels that every right answer offends, routes that pass wrong answers,
    rules that decide alone, frozen states in which all agree against the label. Held-out cases are left out of all.

    `cases` were looked at, in `trials` exact trials by `who`; `read` of those say why their route passes or fails.
    """

    who: tuple[str, ...]
    cases: int
    trials: int
    read: int
    labels: tuple[Disputed, ...]
    lax: tuple[Disputed, ...]
    rules: tuple[DecidingRule, ...]
    points: tuple[DisputedPoint, ...]


@dataclass(frozen=True)
class TrialPool:
    """Cases by id, and every trial with the name of who answered it."""

    cases: Mapping[str, CaseInfo]
    trials: tuple[tuple[str, Trial], ...]

    @property
    def exact(self) -> tuple[tuple[str, Trial], ...]:
        """The trials that are wholly on the tape."""
        return tuple((who, trial) for who, trial in self.trials if trial.trace.provenance.label == "exact")


def pooled(runs: Sequence[Run]) -> TrialPool:
    """All cases that are not held out, and their trials.

    Raises:
        ConfigurationError: two runs have different labels for one case; evidence about both is about neither.
    """
    cases: dict[str, CaseInfo] = {}
    for run in runs:
        for case in run.cases:
            if case.split != "holdout" and cases.setdefault(case.id, case) != case:
                raise ConfigurationError(f"{case.id}: labelled otherwise in suite {run.suite} than in a run before it")
    named = zip(_names(runs), runs, strict=True)
    trials = tuple((names[trial.trace.variant], trial) for names, run in named for trial in run.trials)
    return TrialPool(cases, tuple((who, trial) for who, trial in trials if trial.trace.case_id in cases))


def _names(runs: Sequence[Run]) -> Iterator[Mapping[str, str]]:
    """Per run, variant -> name: of one run the variant's own, of several with suite and model, each name once."""
    seen: set[str] = set()
    for number, run in enumerate(runs, 1):
        names = {}
        for variant in (info.variant for info in run.variants):
            name = f"{run.suite}/{variant.name} ({variant.models.default})" if len(runs) > 1 else variant.name
            names[variant.name] = f"{name} in run {number}" if name in seen else name
        seen.update(names.values())
        yield names


Said = Sequence[tuple[str, Trial, PointAnswer]]


def disputed_points(pool: TrialPool) -> tuple[DisputedPoint, ...]:
    """States in which all answers are one node that is not the best graded; the lowest grade first, then those that
    most agreed on. States answered by nobody, or by somebody without a say there, are left out."""
    found: dict[tuple[str, str], list[tuple[str, Trial, PointAnswer]]] = {}
    for who, trial in pool.trials:
        for answer in trial.trace.points:
            if answer.chosen is not None and answer.say:
                found.setdefault((trial.trace.case_id, answer.point), []).append((who, trial, answer))
    points = {(case.id, point.id): (case, point) for case in pool.cases.values() for point in case.points}
    disputed = [_disputed(*points[key], said) for key, said in found.items() if key in points]
    return tuple(
        sorted(
            (item for item in disputed if item is not None),
            key=lambda item: (item.grade, -len(item.answers), item.case, item.point),
        )
    )


def _disputed(case: CaseInfo, point: PointInfo, said: Said) -> DisputedPoint | None:
    (chosen, *others) = dict.fromkeys(answer.chosen for _, _, answer in said)
    grade = point.accept.get(chosen, 0.0) if chosen else 0.0
    if others or chosen is None or grade >= max(point.accept.values()):
        return None
    return DisputedPoint(
        case=case.id,
        split=case.split,
        slice=case.slice,
        point=point.id,
        chosen=chosen,
        grade=grade,
        accept=point.accept,
        why=point.why,
        answers=tuple(
            Choosing(who=who, sample=trial.trace.sample, confidence=answer.confidence, reasoning=answer.reasoning)
            for who, trial, answer in said
        ),
    )


def suspect_labels(pool: TrialPool) -> tuple[Disputed, ...]:
    """Cases that everybody who was scored got right, and whose route breaks the same rule under all of them; those
    that it alone fails most often come first."""
    found = []
    for case, trials in _by_case(pool).items():
        if trials and not any(_passed(trial) or _wrong(trial) for _, trial in trials):
            rules = _common(pool.cases[case], [trial for _, trial in trials])
            if rules:
                found.append(_disputed_suspects(pool.cases[case], rules, trials))
    return tuple(sorted(found, key=lambda item: (-item.rules[0].alone, -len(item.answers), item.case)))


def lax_routes(pool: TrialPool) -> tuple[Disputed, ...]:
    """Cases with a wrong outcome by a route that passes; those with most of them first."""
    found = []
    for case, trials in _by_case(pool).items():
        guilty = [(who, trial) for who, trial in trials if _passed(trial) and _wrong(trial)]
        if guilty:
            found.append(_disputed_suspects(pool.cases[case], (), guilty))
    return tuple(sorted(found, key=lambda item: (-len(item.answers), item.case)))


def _by_case(pool: TrialPool) -> Mapping[str, Sequence[tuple[str, Trial]]]:
    """The exact trials whose route and result were scored."""
    scored = ("route.pass", *list(load_pack().results)[:1])
    found: dict[str, list[tuple[str, Trial]]] = {case: [] for case in pool.cases}
    for who, trial in pool.exact:
        if all(isinstance(trial.outcomes.get(name), Scored) for name in scored):
            found[trial.trace.case_id].append((who, trial))
    return found


def _answer(who: str, trial: Trial) -> DisputedAnswer:
    trace, reading = trial.trace, trial.reading
    return DisputedAnswer(
        who=who,
        sample=trace.sample,
        route=trace.route,
        confidence=trace.confidence_before(trace.route[-1]) if trace.route else None,
        passed=_passed(trial),
        breaks=reading.breaks if reading else (),
        decides=reading.decides if reading else (),
        wrong=_wrong(trial),
        said=str(trace.output.get(load_pack().answer_field, "")),
    )


def _passed(trial: Trial) -> bool:
    return value_of(trial, "route.pass") == 1


def _wrong(trial: Trial) -> tuple[str, ...]:
    return tuple(words for name, words in load_pack().results.items() if value_of(trial, name) not in (1, None))


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


def _disputed_suspects(case: CaseInfo, rules: tuple[RuleInfo, ...], trials: Sequence[tuple[str, Trial]]) -> Disputed:
    return Disputed(
        case=case.id,
        split=case.split,
        slice=case.slice,
        label=str(case.labels.get(load_pack().answer_field, "")),
        rules=rules,
        answers=tuple(_answer(who, trial) for who, trial in trials),
    )


def disputes(runs: Sequence[Run]) -> Disputes:
    """The four lists over all runs together. Raises `ConfigurationError` where runs differ in their labels."""
    pool = pooled(runs)
    exact = pool.exact
    read = sum(trial.reading is not None for _, trial in exact)
    return Disputes(
        who=tuple(dict.fromkeys(who for who, _ in pool.trials)),
        cases=len(pool.cases),
        trials=len(exact),
        read=read,
        labels=suspect_labels(pool),
        lax=lax_routes(pool),
        rules=_deciding(pool, read),
        points=disputed_points(pool),
    )


def _deciding(pool: TrialPool, read: int) -> tuple[DecidingRule, ...]:
    found = [breach for breach in breaches(pool.trials, pool.cases) if breach.weight[0]]
    return tuple(_rule(breach, read) for breach in found)


def _rule(breach: Breach, read: int) -> DecidingRule:
    alone, broken = breach.weight
    return DecidingRule(
        rule=RuleInfo(**breach.rule._asdict(), alone=alone),
        broken=broken,
        trials=read,
        cases=tuple(dict.fromkeys(each.case_id for each in breach.breaks if each.alone)),
    )
