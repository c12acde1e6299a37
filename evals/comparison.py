"""Two variants, or a variant and its baseline, paired by case on one endpoint: what changed, and is it chance.

A pass-or-fail endpoint is tested by exact one-sided McNemar, a graded one by an exact sign-flip over clusters; the
interval is a paired cluster bootstrap. p-values of one family (a variant against the reference on all endpoints; all
variants against their baselines on all endpoints) are adjusted by Holm. "Equivalent" is claimed only where the share of
cases that could have changed unseen is below the margin too: no difference among seven cases proves nothing about the
eighth.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
from scipy.stats import binomtest  # type: ignore[import-untyped]  # scipy ships no types

from evals.models.run import Comparison, EndpointVerdict
from evals.models.suite import GatePolicy
from evals.stats.paired import holm, mcnemar, paired_bootstrap
from evals.stats.permutation import sign_flip
from evals.stats.power import minimum_detectable_difference, minimum_detectable_drop
from evals.summary import SEED

Against = Literal["reference", "baseline"]
Values = Mapping[str, float]
"""case id -> score of one endpoint."""

_SAME: Final = 1e-9


def compare(
    family: Mapping[tuple[str, str], Mapping[str, tuple[Values, Values]]],
    clusters: Mapping[str, str],
    against: Against,
    policy: GatePolicy,
) -> tuple[Comparison, ...]:
    """Compare left with right on every endpoint; Holm runs over the whole family.

    Args:
        family: (left, right) as the report calls them -> endpoint -> (left's values, right's values); higher is better.
        clusters: case id -> what is resampled together.
        against: what the right-hand sides are.
        policy: alpha and margin.

    Returns:
        One comparison per pair and endpoint, in order.
    """
    paired = {
        (names, endpoint): _paired(left, right)
        for names, endpoints in family.items()
        for endpoint, (left, right) in endpoints.items()
    }
    tests = {key: _p_worse(pairs, clusters) for key, pairs in paired.items()}
    turned = {key: _p_worse([(case, now, was) for case, was, now in pairs], clusters) for key, pairs in paired.items()}
    worse = holm({key: p for key, p in tests.items() if p is not None})
    better = holm({key: p for key, p in turned.items() if p is not None})
    return tuple(
        _comparison(key, pairs, clusters, against, policy, tests[key], worse.get(key), better.get(key), len(paired))
        for key, pairs in paired.items()
    )


Pair = tuple[str, float, float]
"""(case, right's value, left's value): what it was, and what it is now."""


def _paired(left: Values, right: Values) -> list[Pair]:
    return [(case, right[case], left[case]) for case in sorted(left.keys() & right.keys())]


def _binary(pairs: Sequence[Pair]) -> bool:
    return all(value in (0, 1) for _, was, now in pairs for value in (was, now))


def _p_worse(pairs: Sequence[Pair], clusters: Mapping[str, str]) -> float | None:
    if _binary(pairs):
        test = mcnemar([was == 1 for _, was, _ in pairs], [now == 1 for _, _, now in pairs])
        return test.p_worse if test else None
    differences = [now - was for _, was, now in pairs]
    return sign_flip(differences, [clusters[case] for case, _, _ in pairs], np.random.default_rng(SEED))


def _comparison(
    key: tuple[tuple[str, str], str],
    pairs: Sequence[Pair],
    clusters: Mapping[str, str],
    against: Against,
    policy: GatePolicy,
    p_value: float | None,
    p_worse: float | None,
    p_better: float | None,
    family: int,
) -> Comparison:
    (left, right), endpoint = key
    owners = [clusters[case] for case, _, _ in pairs]
    boot = paired_bootstrap(
        [was for _, was, _ in pairs], [now for _, _, now in pairs], owners, np.random.default_rng(SEED)
    )
    interval = boot.interval if boot else None
    return Comparison(
        endpoint=endpoint,
        left=left,
        right=right,
        against=against,
        n=len(pairs),
        delta=boot.mean if boot else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        broke=tuple(case for case, was, now in pairs if now < was - _SAME),
        mended=tuple(case for case, was, now in pairs if now > was + _SAME),
        p_value=p_value,
        p_holm=p_worse,
        minimum_detectable=_minimum_detectable(pairs, owners, policy.alpha / family),
        verdict=_verdict(pairs, policy, p_worse, p_better, (interval.low, interval.high) if interval else None),
    )


def _verdict(
    pairs: Sequence[Pair],
    policy: GatePolicy,
    p_worse: float | None,
    p_better: float | None,
    interval: tuple[float, float] | None,
) -> EndpointVerdict:
    if not pairs:
        return "cannot judge"
    if p_worse is not None and p_worse <= policy.alpha:
        return "regression"
    if p_better is not None and p_better <= policy.alpha:
        return "improvement"
    within = interval is not None and -policy.margin <= interval[0] and interval[1] <= policy.margin
    return "equivalent within margin" if within and _unseen_change(pairs) <= policy.margin else "inconclusive"


def _unseen_change(pairs: Sequence[Pair]) -> float:
    """The largest share of cases that may change, at 95 % (Clopper & Pearson 1934), given how many did here."""
    changed = sum(abs(now - was) > _SAME for _, was, now in pairs)
    limit = binomtest(changed, len(pairs), alternative="less").proportion_ci(0.95, method="exact")
    return float(limit.high)


def _minimum_detectable(pairs: Sequence[Pair], owners: Sequence[str], alpha: float) -> float | None:
    """The smallest drop these cases would show; None where no drop could, however bad the candidate.

    Only a case that passes can break: a reference that passes none leaves nothing to see, and one that passes fewer
    cases than a significant result needs leaves nothing either. For grades, all clusters falling must be significant.
    """
    if not pairs:
        return None
    if _binary(pairs):
        drop = minimum_detectable_drop(len(pairs), alpha=alpha)
        breakable = sum(was == 1 for _, was, _ in pairs) / len(pairs)
        return drop if drop is not None and drop <= breakable else None
    if 0.5 ** len(set(owners)) > alpha or not any(was for _, was, _ in pairs):
        return None
    graded = minimum_detectable_difference([now - was for _, was, now in pairs], owners, alpha=alpha)
    return max(graded, 0.01) if graded is not None else None
