"""Agreement with the labels where a plain share would flatter: severity on its scale, asking in both directions."""

from collections.abc import Mapping
from typing import Final

from evals.judging.measures.evidence import Evidence
from evals.judging.measures.measure import Found, measure
from evals.stats.agreement import SEVERITIES, bootstrap_kappa, quadratic_kappa
from evals.stats.intervals import Interval, varied
from evals.stats.macro import macro_interval, macro_mean

_ASKED_RIGHTLY: Final = {"required": ("ask.required", 0.0), "forbidden": ("ask.false", 1.0)}
"""Question policy -> its scorer, and the value of that scorer that is wrong."""


@measure("severity.kappa", unit="kappa", better="higher", counted="trials")
def severity_kappa(evidence: Evidence) -> Found:
    """Cohen's kappa with quadratic weights between the reports' severity and the labelled one: 1 agrees, 0 is chance,
    below 0 is worse; over exact trials with a report, none where chance cannot disagree."""
    rated = [
        (trial.trace.case_id, label, trial.trace.report.severity)
        for trial in evidence.exact()
        if (label := evidence.cases[trial.trace.case_id].severity) is not None
        and trial.trace.report is not None
        and trial.trace.report.severity in SEVERITIES
    ]
    gold, named = [label for _, label, _ in rated], [severity for _, _, severity in rated]
    value = quadratic_kappa(gold, named)
    return Found(
        value,
        len(rated),
        len(rated) + evidence.open(),
        varied(bootstrap_kappa(gold, named, evidence.clusters([case for case, _, _ in rated]), evidence.rng())),
        why_not="all have one severity: chance cannot disagree" if rated else "no exact trial has a rated report",
    )


@measure("ask.balanced_accuracy", unit="fraction", better="higher", counted="cases")
def balanced_accuracy(evidence: Evidence) -> Found:
    """Mean of ask-recall and of 1 minus the false-ask rate: asking always and asking never both give one half; none
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
    return Found(
        macro_mean(values, policies) if both else None,
        len(values),
        len(rightly.keys() | unknown.keys()),
        _interval(evidence, rightly) if both else None,
        _bounds(evidence, rightly, unknown),
        why_not="needs scored cases of both kinds, question required and question forbidden",
    )


def _interval(evidence: Evidence, rightly: Mapping[str, float]) -> Interval | None:
    policies = [evidence.cases[case].question for case in rightly]
    return macro_interval([*rightly.values()], policies, evidence.clusters([*rightly]))


def _bounds(
    evidence: Evidence, rightly: Mapping[str, float], unknown: Mapping[str, float]
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
