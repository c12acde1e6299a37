"""Evidence for measures: traces scored by the real scorers."""

from collections.abc import Sequence
from typing import Any

from evals.assemble import case_info
from evals.measures.evidence import Evidence
from evals.models.case import Case
from evals.models.measure import Measure, MeasureInfo
from evals.models.trace import Trace
from evals.scoring import score_trials


def some_evidence(
    cases: Sequence[Case], traces: Sequence[Trace], variant: str = "v3", reference: str = "v2"
) -> Evidence:
    """What v3 did, beside what v2 did."""
    by_id = {case.id: case for case in cases}
    return Evidence(variant, reference, {case.id: case_info(case) for case in cases}, score_trials(by_id, traces))


def a_measure(name: str = "severity.kappa", variant: str = "v2", **fields: Any) -> Measure:
    """One measure of eight trials, all on the tape."""
    return Measure.model_validate(
        {"variant": variant, "name": name, "value": 0.5, "low": 0.25, "high": 0.75, "n": 8, "of": 8, **fields}
    )


def a_measure_info(name: str = "severity.kappa", **fields: Any) -> MeasureInfo:
    """How the report explains it."""
    told = {"unit": "kappa", "better": "higher", "counted": "trials", "definition": f"What {name} means."}
    return MeasureInfo.model_validate({"name": name, **told, **fields})
