"""A row of scorers behind one table, in the order of the report; a new one is one function and one line here."""

from typing import Final

from evals.scorers import (
    asking,
    confidence,
    cost,
    decision,
    ranking,
    retrieval,
    robustness,
    root_cause,
    route,
    severity,
)
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
    *ranking.FILES,
    *ranking.FUNCTIONS,
    retrieval.gold_shown,
    root_cause.grounding,
    root_cause.category,
    root_cause.text_overlap,
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
    cost.price_usd,
    cost.latency_s,
    cost.corrections,
    cost.forced_fallbacks,
    cost.questions,
    cost.vetoes,
    cost.failed_visits,
)
