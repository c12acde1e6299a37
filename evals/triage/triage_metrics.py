"""Metrics of a variant that read triage's labels and reports: severity, questions and stated confidence."""

from collections.abc import Mapping
from typing import Final, NamedTuple, get_args

from evals.comparison.variant_metrics import MetricValue, Side, VariantTrials, measure, micro_average
from evals.models.metrics import Calibration, ReliabilityBin, Scored, Source, ThresholdPoint
from evals.models.run import Trial
from evals.statistics.calibration_stats import (
    AboveThreshold,
    Bin,
    above_threshold,
    bootstrap_kappa,
    ece,
    ece_null_band,
    paired_brier,
    quadratic_kappa,
    reliability,
    risk_coverage,
)
from evals.statistics.intervals import (
    Interval,
    fraction_interval,
    macro_interval,
    macro_mean,
    rate_interval,
    varied,
)
from evals.triage.nodes import LAST, SEVERITIES
from evals.triage.report_scorers import root_cause_hit
from evals.triage.typed_views import report_of
from evals.triage.variant_settings import ConfidenceFloorSetting


class StatedConfidence(NamedTuple):
    """A stated confidence, and whether the root cause it is about was right."""

    case_id: str
    sample: int
    confidence: float
    correct: bool


def _answers(evidence: VariantTrials, source: Source, side: Side = "variant") -> list[StatedConfidence]:
    """Every confidence that was stated in an exact trial whose root cause is scored."""
    found = []
    for trial in evidence.exact(side):
        hit, stated = trial.outcomes.get(root_cause_hit.name), _confidence(trial, source)
        if isinstance(hit, Scored) and stated is not None:
            found.append(StatedConfidence(trial.trace.case_id, trial.trace.sample, stated, hit.value == 1))
    return found


def _confidence(trial: Trial, source: Source) -> float | None:
    if source == "supervisor":
        return trial.trace.confidence_before(LAST)
    report = report_of(trial.trace)
    return report.confidence if report else None


_ASKED_RIGHTLY: Final = {"required": ("ask.required", 0.0), "forbidden": ("ask.false", 1.0)}
"""Question policy -> its scorer, and the value of that scorer that is wrong."""


@measure("severity.kappa", unit="kappa", better="higher", counted="trials")
def severity_kappa(evidence: VariantTrials) -> MetricValue:
    """Cohen's kappa with quadratic weights between the reports' severity and the labelled one: 1 agrees, 0 is chance,
    below 0 is worse; over exact trials with a report, n/a if all state and label one severity."""
    rated = [
        (trial.trace.case_id, str(label), report.severity)
        for trial in evidence.exact()
        if (label := evidence.cases[trial.trace.case_id].labels.get("severity")) is not None
        and (report := report_of(trial.trace)) is not None
        and report.severity in SEVERITIES
    ]
    gold, named = [label for _, label, _ in rated], [severity for _, _, severity in rated]
    value = quadratic_kappa(gold, named, SEVERITIES)
    return MetricValue(
        value,
        len(rated),
        len(rated) + evidence.open(),
        varied(
            bootstrap_kappa(
                gold, named, evidence.clusters([case for case, _, _ in rated]), evidence.rng(), scale=SEVERITIES
            )
        ),
        why_not="all have one severity: chance cannot disagree" if rated else "no exact trial has a rated report",
    )


@measure("ask.balanced_accuracy", unit="fraction", better="higher", counted="cases")
def balanced_accuracy(evidence: VariantTrials) -> MetricValue:
    """Mean of ask-recall and of 1 minus the false-ask rate: asking always and asking never both give one half; n/a
    unless questions are required in some scored cases and forbidden in others."""
    rightly = {
        case: abs(value - wrong)
        for scorer, wrong in _ASKED_RIGHTLY.values()
        for case, value in evidence.means(scorer).items()
    }
    values, policies = [*rightly.values()], [evidence.cases[case].question for case in rightly]
    unknown = {
        case: share
        for policy, (scorer, _) in _ASKED_RIGHTLY.items()
        for case, share in evidence.open_cases(scorer).items()
        if evidence.cases[case].question == policy
    }
    both = set(policies) == _ASKED_RIGHTLY.keys()
    return MetricValue(
        macro_mean(values, policies) if both else None,
        len(values),
        len(rightly.keys() | unknown.keys()),
        _interval(evidence, rightly) if both else None,
        _bounds(evidence, rightly, unknown),
        why_not="needs scored cases of both kinds, question required and question forbidden",
    )


def _interval(evidence: VariantTrials, rightly: Mapping[str, float]) -> Interval | None:
    policies = [evidence.cases[case].question for case in rightly]
    return macro_interval([*rightly.values()], policies, evidence.clusters([*rightly]))


def _bounds(
    evidence: VariantTrials, rightly: Mapping[str, float], unknown: Mapping[str, float]
) -> tuple[float, float] | None:
    """With every unknown sample asked wrongly, and rightly; None where a kind of case is missing altogether."""
    cases = [*dict.fromkeys((*rightly, *unknown))]
    policies = [evidence.cases[case].question for case in cases]
    if set(policies) != _ASKED_RIGHTLY.keys():
        return None
    least = [rightly.get(case, 0.0) * (1 - unknown.get(case, 0.0)) for case in cases]
    most = [value + unknown.get(case, 0.0) for case, value in zip(cases, least, strict=True)]
    worst, best = macro_mean(least, policies), macro_mean(most, policies)
    return (worst, best) if worst is not None and best is not None else None


THRESHOLDS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Those people set; 0.70 and 0.85 are the prompts' own."""


def calibration_of(evidence: VariantTrials, source: Source) -> Calibration:
    """One source of confidence of one variant."""
    answers = _answers(evidence, source)
    stated, correct = [answer.confidence for answer in answers], [answer.correct for answer in answers]
    return Calibration(
        variant=evidence.variant,
        source=source,
        n=len(answers),
        of=len(answers) + evidence.open(),
        bins=tuple(_bin(each) for each in reliability(stated, correct)) if answers else (),
        thresholds=tuple(_point(above_threshold(stated, correct, threshold)) for threshold in THRESHOLDS),
        risk_coverage=tuple(_point(point) for point in risk_coverage(stated, correct)),
    )


def _bin(found: Bin) -> ReliabilityBin:
    low, high = rate_interval(found.correct, found.count) or (None, None)
    return ReliabilityBin(
        low=found.low,
        high=found.high,
        n=found.count,
        correct=found.correct,
        mean_confidence=found.mean_confidence,
        accuracy_low=low,
        accuracy_high=high,
    )


def _point(found: AboveThreshold) -> ThresholdPoint:
    low, high = found.interval or (None, None)
    return ThresholdPoint(
        threshold=found.threshold, covered=found.covered, n=found.total, correct=found.correct, low=low, high=high
    )


SURE: Final = ConfidenceFloorSetting().single
"""The confidence at which the prompts let a single finding pass without a critic."""
_NOBODY: Final = "no exact trial states a confidence"


@measure("confidence.right_when_sure", unit="fraction", better="higher", counted="trials")
def right_when_sure(evidence: VariantTrials) -> MetricValue:
    """P(correct, given c ≥ 0.85): of the exact trials whose supervisor was that confident when it went to the writer,
    the share with `root_cause.hit` = 1."""
    sure = above_threshold(*_columns(_answers(evidence, "supervisor")), SURE)
    most = sure.covered + evidence.open()
    return MetricValue(
        sure.correct / sure.covered if sure.covered else None,
        sure.covered,
        most,
        sure.interval,
        (sure.correct / most, (most - sure.covered + sure.correct) / most) if most else None,
        why_not="no confidence of an exact trial reaches 0.85",
    )


@measure("confidence.sure", unit="fraction", better="higher", counted="trials")
def sure_share(evidence: VariantTrials) -> MetricValue:
    """Coverage of c ≥ 0.85: of the exact trials that went to the writer, the share whose supervisor was that confident;
    read it beside `confidence.right_when_sure`."""
    answers = _answers(evidence, "supervisor")
    sure = sum(answer.confidence >= SURE for answer in answers)
    most = len(answers) + evidence.open()
    return MetricValue(
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
def supervisor_ece(evidence: VariantTrials) -> MetricValue:
    """Expected calibration error of the supervisor's confidence at the decision that sent the graph to the writer:
    Σ (n_b / n) · abs(accuracy_b - mean confidence_b), ten bins of equal width; evidence only above its null band."""
    return _ece(evidence, "supervisor")


@measure("confidence.report_ece", unit="fraction", better="lower", counted="trials")
def report_ece(evidence: VariantTrials) -> MetricValue:
    """The same of the confidence that the reports state."""
    return _ece(evidence, "report")


@measure("confidence.paired_brier", unit="difference", better="lower", counted="trials")
def paired(evidence: VariantTrials) -> MetricValue:
    """Brier score minus the reference's, over the trials in which both supervisors stated a confidence; below 0 the
    variant is better calibrated or more often right."""
    was = {(a.case_id, a.sample): (a.confidence, a.correct) for a in _answers(evidence, "supervisor", "reference")}
    now = {(a.case_id, a.sample): (a.confidence, a.correct) for a in _answers(evidence, "supervisor")}
    both = sorted(was.keys() & now.keys())
    if evidence.variant == evidence.reference:
        return MetricValue(None, 0, 0, why_not="this is the reference")
    found = paired_brier(
        [was[key] for key in both], [now[key] for key in both], evidence.clusters([case for case, _ in both])
    )
    unknown = evidence.open_pairs()
    if found is None:
        return MetricValue(None, 0, unknown, why_not="no trial in which both stated a confidence")
    every = len(both) + unknown
    difference, interval = found
    total = difference * len(both)
    bounds = ((total + unknown) / every, (total - unknown) / every)
    return MetricValue(difference, len(both), every, interval, bounds)


def _ece(evidence: VariantTrials, source: Source) -> MetricValue:
    stated, correct = _columns(_answers(evidence, source))
    return MetricValue(
        ece(stated, correct),
        len(stated),
        len(stated) + evidence.open(),
        null=ece_null_band(stated, evidence.rng()),
        why_not=_NOBODY,
    )


def _columns(answers: list[StatedConfidence]) -> tuple[list[float], list[bool]]:
    return [answer.confidence for answer in answers], [answer.correct for answer in answers]


METRICS: Final = (
    micro_average,
    severity_kappa,
    balanced_accuracy,
    right_when_sure,
    sure_share,
    supervisor_ece,
    report_ece,
    paired,
)
"""In the order of the report; a ready-made one stands at its place."""


def calibrations(evidence: VariantTrials) -> tuple[Calibration, ...]:
    """Every source of confidence of one variant."""
    return tuple(calibration_of(evidence, source) for source in get_args(Source))
