"""Two variants, or a variant and its baseline, paired by case on one endpoint: what changed, and is it chance.

A pass-or-fail endpoint is tested by exact one-sided McNemar, a graded one by an exact sign-flip over clusters; the
interval is a paired cluster bootstrap. An endpoint of frozen states is paired by state, every gold node weighed alike,
and its clusters are still those of the cases. p-values of one family (a variant against the reference, or against its
own baseline, on all endpoints) are adjusted by Holm. "Equivalent" is claimed only where the share of cases that could
have changed unseen is below the margin too: no difference among seven cases proves nothing about the eighth.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np

from evals.judging.frozen import State
from evals.judging.pairing import Pair, Values, bounds, by_case, paired
from evals.judging.summary import SEED
from evals.models.run import Comparison, EndpointVerdict
from evals.models.suite import GatePolicy
from evals.stats.binomial import upper_limit
from evals.stats.intervals import Interval
from evals.stats.macro import bootstrap_macro
from evals.stats.paired import holm, mcnemar
from evals.stats.permutation import sign_flip
from evals.stats.power import minimum_detectable_difference, minimum_detectable_drop, smallest_significant_flips

Against = Literal["reference", "baseline", "whole set"]
Unknown = Mapping[tuple[tuple[str, str], str], Mapping[State, float]]
"""((left, right), endpoint) -> the cases or states one side's score of which is off the tape, for which share of the
samples."""

_SAME: Final = 1e-9


def compare(
    family: Mapping[tuple[str, str], Mapping[str, tuple[Values, Values]]],
    clusters: Mapping[str, str],
    against: Against,
    policy: GatePolicy,
    unknown: Unknown | None = None,
) -> tuple[Comparison, ...]:
    """Compare left with right on every endpoint; Holm runs over the whole family.

    Args:
        family: (left, right) as the report calls them -> endpoint -> (left's values, right's values); higher is better.
        clusters: case id -> what is resampled together.
        against: what the right-hand sides are.
        policy: alpha and margin.
        unknown: what the bounds of each comparison are about.

    Returns:
        One comparison per pair and endpoint, in order.
    """
    pairs_of = {
        (names, endpoint): paired(left, right)
        for names, endpoints in family.items()
        for endpoint, (left, right) in endpoints.items()
    }
    tests = {key: _p_worse(pairs, clusters) for key, pairs in pairs_of.items()}
    turned = {
        key: _p_worse([pair._replace(was=pair.now, now=pair.was) for pair in pairs], clusters)
        for key, pairs in pairs_of.items()
    }
    worse = holm({key: p for key, p in tests.items() if p is not None})
    better = holm({key: p for key, p in turned.items() if p is not None})
    return tuple(
        _comparison(
            key,
            pairs,
            (unknown or {}).get(key, {}),
            clusters,
            against,
            policy,
            tests[key],
            worse.get(key),
            better.get(key),
            len(pairs_of),
        )
        for key, pairs in pairs_of.items()
    )


def _pass_or_fail(pairs: Sequence[Pair]) -> bool:
    """Whether McNemar applies: one answer per case, each 0 or 1, and all count alike."""
    return (
        all(value in (0, 1) for pair in pairs for value in (pair.was, pair.now))
        and len({pair.state.case_id for pair in pairs}) == len(pairs)
        and len({pair.state.gold for pair in pairs}) < 2
    )


def _p_worse(pairs: Sequence[Pair], clusters: Mapping[str, str]) -> float | None:
    if _pass_or_fail(pairs):
        test = mcnemar([pair.was == 1 for pair in pairs], [pair.now == 1 for pair in pairs])
        return test.p_worse if test else None
    return sign_flip([pair.change for pair in pairs], _owners(pairs, clusters), np.random.default_rng(SEED))


def _owners(pairs: Sequence[Pair], clusters: Mapping[str, str]) -> list[str]:
    return [clusters[pair.state.case_id] for pair in pairs]


def _comparison(
    key: tuple[tuple[str, str], str],
    pairs: Sequence[Pair],
    unknown: Mapping[State, float],
    clusters: Mapping[str, str],
    against: Against,
    policy: GatePolicy,
    p_value: float | None,
    p_worse: float | None,
    p_better: float | None,
    family: int,
) -> Comparison:
    (left, right), endpoint = key
    differences = [pair.now - pair.was for pair in pairs]
    interval = bootstrap_macro(
        differences, [pair.state.gold for pair in pairs], _owners(pairs, clusters), np.random.default_rng(SEED)
    )
    low, high = interval or (None, None)
    worst, best = bounds(pairs, unknown) or (None, None)
    changes = by_case(pairs)
    return Comparison(
        endpoint=endpoint,
        left=left,
        right=right,
        against=against,
        n=len(changes),
        of=len(changes.keys() | {state.case_id for state in unknown}),
        delta=sum(pair.change for pair in pairs) / len(pairs) if pairs else None,
        low=low,
        high=high,
        pessimistic=worst,
        optimistic=best,
        broke=tuple(case for case, change in changes.items() if change < -_SAME),
        mended=tuple(case for case, change in changes.items() if change > _SAME),
        p_value=p_value,
        p_holm=p_worse,
        minimum_detectable=_minimum_detectable(pairs, clusters, policy.alpha / family),
        fewest_losses=_fewest_losses(pairs, policy.alpha / family),
        verdict=_verdict(changes, policy, p_worse, p_better, interval),
    )


def _verdict(
    changes: Mapping[str, float],
    policy: GatePolicy,
    p_worse: float | None,
    p_better: float | None,
    interval: Interval | None,
) -> EndpointVerdict:
    if not changes:
        return "cannot judge"
    if p_worse is not None and p_worse <= policy.alpha:
        return "regression"
    if p_better is not None and p_better <= policy.alpha:
        return "improvement"
    within = interval is not None and -policy.margin <= interval.low and interval.high <= policy.margin
    return "equivalent within margin" if within and _unseen_change(changes) <= policy.margin else "inconclusive"


def _unseen_change(changes: Mapping[str, float]) -> float:
    """The largest share of cases that may change, at 95 % (Clopper & Pearson 1934), given how many did here."""
    changed = sum(abs(change) > _SAME for change in changes.values())
    return upper_limit(changed, len(changes), 0.95)


def _minimum_detectable(pairs: Sequence[Pair], clusters: Mapping[str, str], alpha: float) -> float | None:
    """The smallest drop these cases would show; None where no drop could, however bad the candidate.

    Only a case that passes can break: a reference that passes none leaves nothing to see, and one that passes fewer
    cases than a significant result needs leaves nothing either. For grades, all clusters falling must be significant.
    """
    if not pairs:
        return None
    if _pass_or_fail(pairs):
        drop = minimum_detectable_drop(len(pairs), alpha=alpha)
        breakable = sum(pair.was == 1 for pair in pairs) / len(pairs)
        return drop if drop is not None and drop <= breakable else None
    changes = by_case(pairs)
    owners = [clusters[case] for case in changes]
    if 0.5 ** len(set(owners)) > alpha or not any(pair.was for pair in pairs):
        return None
    scale = len(changes) / len(pairs)  # so that the mean over cases is the difference: 1 with a value per case
    graded = minimum_detectable_difference([scale * change for change in changes.values()], owners, alpha=alpha)
    return max(graded, 0.01) if graded is not None else _if_clusters_fall(pairs, clusters, alpha)


def _if_clusters_fall(pairs: Sequence[Pair], clusters: Mapping[str, str], alpha: float) -> float | None:
    """Where nothing varied there is no spread to go by: the smallest drop if clusters lose all they have, as cases do
    in pass or fail; the sign flip of k fallen clusters is as likely as McNemar's of k lost cases."""
    worth: dict[str, float] = {}
    for pair, owner in zip(pairs, _owners(pairs, clusters), strict=True):
        worth[owner] = worth.get(owner, 0.0) + pair.weight * pair.was
    drop = minimum_detectable_drop(len(worth), alpha=alpha)
    breakable = sum(value > 0 for value in worth.values()) / len(worth)
    return drop * sum(worth.values()) / len(pairs) if drop is not None and drop <= breakable else None


def _fewest_losses(pairs: Sequence[Pair], alpha: float) -> int | None:
    """How many lost cases would have been a regression, beside the gains there are; only a case that passed is lost."""
    if not pairs or not _pass_or_fail(pairs):
        return None
    gained = sum(pair.now > pair.was for pair in pairs)
    fewest = smallest_significant_flips(len(pairs), gained=gained, alpha=alpha)
    return fewest if fewest is not None and fewest <= sum(pair.was == 1 for pair in pairs) else None
