"""A row of measures behind one table, in the order of the report; a new one is one function and one line here."""

from typing import Final

from evals.judging.measures import agreement, confidence, decision, robustness
from evals.judging.measures.measure import Measuring

MEASURES: Final[tuple[Measuring, ...]] = (
    decision.micro_average,
    agreement.severity_kappa,
    agreement.balanced_accuracy,
    confidence.right_when_sure,
    confidence.sure_share,
    confidence.supervisor_ece,
    confidence.report_ece,
    confidence.paired,
    robustness.twins_route,
    robustness.twins_root_cause,
)
