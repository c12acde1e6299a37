"""The scorers of triage and the ready-made ones, in the order of the report."""

from typing import Final

from evals.scoring import cost_scorers as cost
from evals.scoring import route_scorers as route
from evals.scoring.scorer import Scorer
from evals.triage import report_scorers as report
from evals.triage import root_cause_scorers as root_cause
from evals.triage import supervisor_scorers as supervisor

SCORERS: Final[tuple[Scorer, ...]] = (
    route.route_pass,
    root_cause.root_cause_hit,
    route.decision_score,
    route.route_score,
    route.route_fitness,
    route.route_precision,
    route.route_efficiency,
    route.route_alignment,
    *root_cause.FILES,
    *root_cause.FUNCTIONS,
    root_cause.gold_shown,
    root_cause.grounding,
    root_cause.category,
    root_cause.text_overlap,
    report.severity_exact,
    report.severity_within_one,
    report.under_triage,
    report.comment_cause,
    report.report_complete,
    supervisor.ask_required,
    supervisor.ask_false,
    supervisor.ask_topics,
    supervisor.supervisor_brier,
    supervisor.report_brier,
    report.canary,
    cost.visits,
    cost.llm_calls,
    cost.tokens,
    cost.price_usd,
    cost.latency_s,
    supervisor.corrections,
    supervisor.forced_fallbacks,
    cost.questions,
    supervisor.vetoes,
    cost.failed_visits,
)
