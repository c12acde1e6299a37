"""What the samples of each case say together: how often all of them pass, and how often they agree."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from evals.models.outcome import Scored
from evals.models.run import Trial
from evals.models.sampling import Agreement, PassHat, SampleAgreement
from evals.stats.samples import mean_pass_hat_k

Value = TypeVar("Value")

PASS_OR_FAIL: Final = ("route.pass", "root_cause.hit")


def sample_agreements(trials: Sequence[Trial], variants: Sequence[str], samples: int) -> tuple[SampleAgreement, ...]:
    """One entry per variant; none where every case was run once."""
    if samples < 2:
        return ()
    return tuple(
        _of_variant([trial for trial in trials if trial.trace.variant == name], name, samples) for name in variants
    )


def _of_variant(trials: Sequence[Trial], variant: str, samples: int) -> SampleAgreement:
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
        pass_hat=tuple(_pass_hat(trials, endpoint, samples) for endpoint in PASS_OR_FAIL),
        decisions=_agreement(points, samples),
        routes=_agreement(((trace.case_id, trace.route) for trace in exact), samples),
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


def _agreement(answers: Iterable[tuple[Hashable, Hashable]], samples: int) -> Agreement:
    """Of the questions that every sample answered, those that all answered alike."""
    whole = [given for given in _grouped(answers).values() if len(given) == samples]
    return Agreement(agreed=sum(len(set(given)) == 1 for given in whole), of=len(whole))


def _grouped(pairs: Iterable[tuple[Hashable, Value]]) -> Mapping[Hashable, list[Value]]:
    found: dict[Hashable, list[Value]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
