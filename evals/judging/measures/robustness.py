"""Whether cases that say the same in other words fare alike."""

from evals.judging.measures.evidence import Evidence
from evals.judging.measures.measure import Found, measure
from evals.judging.measures.twins import twins_of
from evals.stats.intervals import rate_interval


@measure("robustness.twins_route", unit="fraction", better="higher", counted="pairs")
def twins_route(evidence: Evidence) -> Found:
    """Of the pairs of twins whose members are all scored, the share with equal `route.pass`."""
    return _consistency(evidence, "route.pass")


@measure("robustness.twins_root_cause", unit="fraction", better="higher", counted="pairs")
def twins_root_cause(evidence: Evidence) -> Found:
    """Of the pairs of twins whose members are all scored, the share with equal `root_cause.hit`."""
    return _consistency(evidence, "root_cause.hit")


def _consistency(evidence: Evidence, endpoint: str) -> Found:
    pairs = twins_of(evidence, endpoint)
    known = [pair.consistent for pair in pairs if pair.consistent is not None]
    alike, most = sum(known), len(pairs)
    return Found(
        alike / len(known) if known else None,
        len(known),
        most,
        rate_interval(alike, len(known)),
        (alike / most, (alike + most - len(known)) / most) if most else None,
        why_not="no pair of twins is wholly scored" if pairs else "there are no twins among the cases",
    )
