"""Summaries per variant and metric: mean, interval and number of cases."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from evals.comparison.divergences import Earlier, earlier_of
from evals.models.case import Case
from evals.models.metrics import Failed, PassHat, RepeatAgreement, SampleAgreement, Scored, Skipped
from evals.models.run import (
    Baseline,
    CaseInfo,
    Coverage,
    DatasetBaseline,
    EditedPrompt,
    Scope,
    ScorerInfo,
    Summary,
    Trial,
    VariantInfo,
)
from evals.models.suite import Suite
from evals.scoring.registry import scorer_infos
from evals.scoring.route_scorers import State, state_grades, unanswered_states
from evals.statistics.intervals import Interval, fraction_interval, macro_interval, macro_mean, mean, mean_interval
from evals.statistics.rates import mean_pass_hat_k

if TYPE_CHECKING:
    from evals.application_pack import Pack

SEED: Final = 20_260_101
"""Fixed, so that the same run prints the same intervals."""


def coverage_of(trials: Sequence[Trial], variant: str) -> Coverage:
    """Count a variant's trials by what they rest on."""
    labels = [trial.trace.provenance.label for trial in trials if trial.trace.variant == variant]
    return Coverage(
        exact=labels.count("exact"),
        frontier=labels.count("frontier"),
        unrecorded=labels.count("unrecorded"),
        failed=labels.count("failed"),
    )


def case_means(trials: Sequence[Trial], variant: str, scorer: str) -> dict[str, float]:
    """Case id -> mean of its scored samples, in order of case id."""
    collected: dict[str, list[float]] = {}
    for trial in trials:
        outcome = trial.outcomes.get(scorer)
        if trial.trace.variant == variant and isinstance(outcome, Scored):
            collected.setdefault(trial.trace.case_id, []).append(outcome.value)
    return {case: sum(values) / len(values) for case, values in sorted(collected.items())}


def summarise(
    trials: Sequence[Trial],
    cases: Sequence[Case] | Sequence[CaseInfo],
    variants: Sequence[str],
    scorers: Sequence[ScorerInfo],
) -> tuple[Summary, ...]:
    """Every score of every variant."""
    return tuple(_summary(trials, cases, variant, scorer) for variant in variants for scorer in scorers)


class _Estimate(NamedTuple):
    """A mean over `n` cases, and what it would be with the rest at its (worst, best)."""

    n: int
    mean: float | None
    interval: Interval | None
    bounds: tuple[float, float] | None
    hits: int | None = None


def _summary(
    trials: Sequence[Trial], cases: Sequence[Case] | Sequence[CaseInfo], variant: str, scorer: ScorerInfo
) -> Summary:
    mine = [trial.outcomes[scorer.name] for trial in trials if trial.trace.variant == variant]
    found = (_over_gold_nodes if scorer.macro else _over_cases)(trials, cases, variant, scorer)
    low, high = found.interval or (None, None)
    lowest, highest = found.bounds or (None, None)
    higher = scorer.better == "higher"
    return Summary(
        variant=variant,
        scorer=scorer.name,
        n=found.n,
        total=len(cases),
        mean=found.mean,
        low=low,
        high=high,
        hits=found.hits,
        pessimistic=lowest if higher else highest,
        optimistic=highest if higher else lowest,
        skipped=sum(isinstance(outcome, Skipped) for outcome in mine),
        failed=sum(isinstance(outcome, Failed) for outcome in mine),
    )


def _over_cases(
    trials: Sequence[Trial], cases: Sequence[Case] | Sequence[CaseInfo], variant: str, scorer: ScorerInfo
) -> _Estimate:
    """The mean over cases."""
    clusters = {case.id: case.cluster for case in cases}
    means = case_means(trials, variant, scorer.name)
    values = list(means.values())
    share = scorer.unit == "fraction"
    counted = share and values and all(value in (0, 1) for value in values)
    hits = sum(value == 1 for value in values) if counted else None
    interval = (fraction_interval if share else mean_interval)(values, [clusters[case] for case in means])
    unknown = open_cases(trials, variant, scorer.name, open_loop=scorer.open_loop)
    bounds = _bounds({State(case): value for case, value in means.items()}, unknown) if share else None
    return _Estimate(len(values), mean(values), interval, bounds, hits)


def _over_gold_nodes(
    trials: Sequence[Trial], cases: Sequence[Case] | Sequence[CaseInfo], variant: str, scorer: ScorerInfo
) -> _Estimate:
    """The macro-average over gold nodes."""
    by_id = {case.id: case for case in cases}
    grades = state_grades(trials, by_id, variant, scorer.name)
    values, nodes = list(grades.values()), [state.gold for state in grades]
    clusters = [by_id[state.case_id].cluster for state in grades]
    interval = macro_interval(values, nodes, clusters)
    unknown = unanswered_states(trials, by_id, variant, scorer.name)
    answered = len({state.case_id for state in grades})
    return _Estimate(answered, macro_mean(values, nodes), interval, _bounds(grades, unknown))


def _bounds(known: Mapping[State, float], unknown: Mapping[State, float]) -> tuple[float, float] | None:
    """The mean with all the rest at 0, and at 1, every gold node counted alike; None for an empty sample."""
    states = [*dict.fromkeys((*known, *unknown))]
    worst = [known.get(state, 0.0) * (1 - unknown.get(state, 0.0)) for state in states]
    best = [least + unknown.get(state, 0.0) for state, least in zip(states, worst, strict=True)]
    low, high = (macro_mean(values, [state.gold for state in states]) for values in (worst, best))
    return (low, high) if low is not None and high is not None else None


def open_cases(trials: Sequence[Trial], variant: str, scorer: str, *, open_loop: bool = False) -> dict[State, float]:
    """Cases whose score is unknown because answers are missing (for an `open_loop` one, those at decision points too),
    not because it does not apply: each with the share of its samples (above 0, up to 1) that is."""
    asked: dict[str, list[bool]] = {}
    for trial in trials:
        lost = not isinstance(trial.outcomes.get(scorer), Scored)
        unanswered = open_loop and any(point.chosen is None for point in trial.trace.points)
        if trial.trace.variant == variant and not (lost and trial.trace.provenance.label == "exact" and not unanswered):
            asked.setdefault(trial.trace.case_id, []).append(lost)
    return {State(case): sum(lost) / len(lost) for case, lost in sorted(asked.items()) if any(lost)}


Value = TypeVar("Value")


def sample_agreements(
    trials: Sequence[Trial], variants: Sequence[str], samples: int, metrics: Sequence[str]
) -> tuple[SampleAgreement, ...]:
    """One entry per variant, with the chance that each of `metrics` passes in every repeat; none where every case was
    run once."""
    if samples < 2:
        return ()
    return tuple(
        _of_variant([trial for trial in trials if trial.trace.variant == name], name, samples, metrics)
        for name in variants
    )


def _of_variant(trials: Sequence[Trial], variant: str, samples: int, metrics: Sequence[str]) -> SampleAgreement:
    exact = [trial.trace for trial in trials if trial.trace.provenance.label == "exact"]
    points = (
        ((trial.trace.case_id, point.point), point.chosen)
        for trial in trials
        for point in trial.trace.points
        if point.chosen is not None
    )
    return SampleAgreement(
        variant=variant,
        samples=samples,
        pass_hat=tuple(_pass_hat(trials, endpoint, samples) for endpoint in metrics),
        decisions=_agreement(points, samples),
        routes=_agreement(((trace.case_id, trace.route) for trace in exact if trace.route), samples),
    )


def _pass_hat(trials: Sequence[Trial], endpoint: str, samples: int) -> PassHat:
    """Over the cases all of whose samples are scored: a missing one is not a failed one."""
    scored = _grouped(
        (trial.trace.case_id, outcome.value == 1)
        for trial in trials
        if isinstance(outcome := trial.outcomes.get(endpoint), Scored)
    )
    counts = [(sum(passed), samples) for passed in scored.values() if len(passed) == samples]
    values = tuple(mean_pass_hat_k(counts, k) for k in range(1, samples + 1))
    return PassHat(endpoint=endpoint, cases=len(counts), values=tuple(value for value in values if value is not None))


def _agreement(answers: Iterable[tuple[Hashable, Hashable]], samples: int) -> RepeatAgreement:
    """Of the questions that every sample answered, those that all answered alike."""
    whole = [given for given in _grouped(answers).values() if len(given) == samples]
    return RepeatAgreement(agreed=sum(len(set(given)) == 1 for given in whole), of=len(whole))


def _grouped(pairs: Iterable[tuple[Hashable, Value]]) -> Mapping[Hashable, list[Value]]:
    found: dict[Hashable, list[Value]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


@dataclass(frozen=True)
class Material:
    """What a run is assembled from. `baseline` is None when there is none, or none that applies; `scorers` is set
    where the scores are not of this code but of the stored run they were read from; `unblessed` says why the suite's
    baseline does not apply, where it has one. `default_prompts`: supervisor -> version and digest of the prompt that
    `triage run` gives it by default."""

    suite: Suite
    cases: Sequence[Case] | Sequence[CaseInfo]
    variants: Sequence[VariantInfo]
    trials: Sequence[Trial]
    scope: Scope
    dataset_baselines: Sequence[DatasetBaseline]
    baseline: Baseline | None
    wants_baseline: bool
    partial: tuple[str, ...]
    record_command: str
    bless_command: str
    scorers: str | None = None
    files_read: Mapping[str, str] = field(default_factory=dict)
    """Of these scorers, where they are given; see `Baseline.files_read`."""
    unblessed: tuple[str, ...] = ()
    unread_labels: tuple[str, ...] = ()
    """Labels that no scorer can read, a sentence each."""
    cassettes: Mapping[str, str] = field(default_factory=dict)
    """Case -> digest of the cassette that answered."""
    default_prompts: Mapping[str, str] = field(default_factory=dict)
    edited_prompts: tuple[EditedPrompt, ...] = ()
    failed_recordings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(case, variant) -> why the last recording failed."""
    pack: "Pack | None" = None
    """The default one if not given."""
    differences: tuple[str, ...] = ()
    """What differs between two stored sides besides the variant, a phrase each."""
    metrics: Sequence[ScorerInfo] = field(default_factory=scorer_infos)
    """What scored the trials; the default pack's scorers if not given."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variants' names, in the suite's order."""
        return tuple(info.variant.name for info in self.variants)

    @property
    def earlier(self) -> Earlier | None:
        """What is compared where no label says what is right: a part of a suite only with its baseline."""
        is_first = self.wants_baseline and self.baseline is None
        trials = () if is_first or self.partial or self.unblessed else self.trials
        return earlier_of(self.suite, self.metrics, self.baseline, trials)

    @cached_property
    def by_id(self) -> Mapping[str, Case | CaseInfo]:
        """The cases by name."""
        return {case.id: case for case in self.cases}

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """Case -> what is resampled together with it."""
        return {case.id: case.cluster for case in self.cases}
