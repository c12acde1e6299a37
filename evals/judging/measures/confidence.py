"""Whether stated confidence can be believed, over all cases of a variant."""

from typing import Final

from evals.judging.measures.evidence import Answer, Evidence
from evals.judging.measures.measure import Found, measure
from evals.models.measure import Source
from evals.models.suite import ConfidenceFloor
from evals.stats.calibration import above_threshold, ece, ece_null_band, paired_brier
from evals.stats.intervals import fraction_interval

SURE: Final = ConfidenceFloor().single
"""The confidence at which the prompts let a single finding pass without a critic."""
_NOBODY: Final = "no exact trial states a confidence"


@measure("confidence.right_when_sure", unit="fraction", better="higher", counted="trials")
def right_when_sure(evidence: Evidence) -> Found:
    """P(correct, given c ≥ 0.85): of the exact trials whose supervisor was that confident when it went to the writer,
    the share with `root_cause.hit` = 1."""
    sure = above_threshold(*_columns(evidence.answers("supervisor")), SURE)
    most = sure.covered + evidence.open()
    return Found(
        sure.correct / sure.covered if sure.covered else None,
        sure.covered,
        most,
        sure.interval,
        (sure.correct / most, (most - sure.covered + sure.correct) / most) if most else None,
        why_not="no confidence of an exact trial reaches 0.85",
    )


@measure("confidence.sure", unit="fraction", better="higher", counted="trials")
def sure_share(evidence: Evidence) -> Found:
    """Coverage of c ≥ 0.85: of the exact trials that went to the writer, the share whose supervisor was that confident;
    read it beside `confidence.right_when_sure`."""
    answers = evidence.answers("supervisor")
    sure = sum(answer.confidence >= SURE for answer in answers)
    most = len(answers) + evidence.open()
    return Found(
        sure / len(answers) if answers else None,
        len(answers),
        most,
        fraction_interval(
            [float(answer.confidence >= SURE) for answer in answers],
            evidence.clusters([answer.case_id for answer in answers]),
        ),
        (sure / most, (sure + evidence.open()) / most) if most else None,
        why_not=_NOBODY,
    )


@measure("confidence.ece", unit="fraction", better="lower", counted="trials")
def supervisor_ece(evidence: Evidence) -> Found:
    """Expected calibration error of the supervisor's confidence at the decision that sent the graph to the writer:
    Σ (n_b / n) · abs(accuracy_b - mean confidence_b), ten bins of equal width; evidence only above its null band."""
    return _ece(evidence, "supervisor")


@measure("confidence.report_ece", unit="fraction", better="lower", counted="trials")
def report_ece(evidence: Evidence) -> Found:
    """The same of the confidence that the reports state."""
    return _ece(evidence, "report")


@measure("confidence.paired_brier", unit="difference", better="lower", counted="trials")
def paired(evidence: Evidence) -> Found:
    """Brier score minus the reference's, over the trials in which both supervisors stated a confidence; below 0 the
    variant is better calibrated or more often right."""
    was = {(a.case_id, a.sample): (a.confidence, a.correct) for a in evidence.answers("supervisor", "reference")}
    now = {(a.case_id, a.sample): (a.confidence, a.correct) for a in evidence.answers("supervisor")}
    both = sorted(was.keys() & now.keys())
    if evidence.variant == evidence.reference:
        return Found(None, 0, 0, why_not="this is the reference")
    found = paired_brier(
        [was[key] for key in both], [now[key] for key in both], evidence.clusters([case for case, _ in both])
    )
    unknown = evidence.open_pairs()
    if found is None:
        return Found(None, 0, unknown, why_not="no trial in which both stated a confidence")
    every = len(both) + unknown
    difference, interval = found
    total = difference * len(both)
    bounds = ((total + unknown) / every, (total - unknown) / every)
    return Found(difference, len(both), every, interval, bounds)


def _ece(evidence: Evidence, source: Source) -> Found:
    stated, correct = _columns(evidence.answers(source))
    return Found(
        ece(stated, correct),
        len(stated),
        len(stated) + evidence.open(),
        null=ece_null_band(stated, evidence.rng()),
        why_not=_NOBODY,
    )


def _columns(answers: list[Answer]) -> tuple[list[float], list[bool]]:
    return [answer.confidence for answer in answers], [answer.correct for answer in answers]
