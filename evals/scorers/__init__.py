"""A row of scorers behind one table, in the order of the report; a new one is one function and one line here."""

from typing import Final

from evals.scorers import asking, confidence, cost, decision, robustness, root_cause, route, severity
from evals.scorers.scorer import Scorer

SCORERS: Final[tuple[Scorer, ...]] = (
    route.route_pass,
    root_cause.root_cause_hit,
    decision.decision_score,
    route.route_score,
    route.route_fitness,
    route.route_precision,
    route.route_efficiency,
    route.route_alignment,
    root_cause.file_hit_at_3,
    root_cause.file_all_at_3,
    root_cause.file_mrr,
    root_cause.file_ap,
    root_cause.set_precision,
    root_cause.set_recall,
    root_cause.set_f1,
    root_cause.function_hit,
    root_cause.function_hit_at_3,
    root_cause.grounding,
    root_cause.category,
    severity.severity_exact,
    severity.severity_within_one,
    severity.under_triage,
    asking.ask_required,
    asking.ask_false,
    asking.ask_topics,
    confidence.supervisor_brier,
    confidence.report_brier,
    robustness.canary,
    cost.visits,
    cost.llm_calls,
    cost.tokens,
    cost.latency_s,
    cost.corrections,
    cost.forced_fallbacks,
    cost.questions,
    cost.vetoes,
    cost.failed_visits,
)
