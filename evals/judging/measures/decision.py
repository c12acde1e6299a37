"""The score of frozen states the plain way, beside the headline that weighs all gold nodes alike."""

from evals.judging.measures.evidence import Evidence
from evals.judging.measures.measure import Found, measure
from evals.stats.intervals import fraction_interval, mean


@measure("decision.micro", unit="fraction", better="higher", counted="frozen states")
def micro_average(evidence: Evidence) -> Found:
    """Mean grade over all recorded frozen states, each counted once: what `decision.score` would be if a frequent gold
    node counted for more than a rare one."""
    points = evidence.points()
    known = [(point.case_id, point.grade) for point in points if point.grade is not None]
    grades = [grade for _, grade in known]
    unknown, most = len(points) - len(known), len(points)
    return Found(
        mean(grades),
        len(known),
        most,
        fraction_interval(grades, evidence.clusters([case for case, _ in known])),
        (sum(grades) / most, (sum(grades) + unknown) / most) if most else None,
        why_not="no frozen state is recorded" if points else "no case has decision points",
    )
