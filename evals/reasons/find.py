"""All that labels and answers disagree about, from one or more runs."""

from collections.abc import Sequence

from evals.models.dispute import DecidingRule, Disputes, RuleInfo
from evals.models.run import Run
from evals.reasons.breaches import Breach, breaches
from evals.reasons.frozen import disputed_points
from evals.reasons.pool import Pool, pooled
from evals.reasons.suspects import lax_routes, suspect_labels


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


def _deciding(pool: Pool, read: int) -> tuple[DecidingRule, ...]:
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
