"""From traces to trials: every scorer applied to every trace, plus what the gate needs to know of its route."""

from collections.abc import Mapping, Sequence

from evals.models.case import Case
from evals.models.route import RouteReading
from evals.models.run import ScorerInfo, Trial
from evals.models.trace import Trace
from evals.reasons.why import why
from evals.routes.distance import first_divergence
from evals.scorers import SCORERS
from evals.scorers.route import route_score_of
from evals.scorers.scorer import score


def scorer_infos() -> tuple[ScorerInfo, ...]:
    """The scorers as the report explains them."""
    return tuple(
        ScorerInfo(
            name=scorer.name,
            unit=scorer.unit,
            better=scorer.better,
            primary=scorer.primary,
            open_loop=scorer.open_loop,
            macro=scorer.macro,
            definition=scorer.definition,
        )
        for scorer in SCORERS
    )


def score_trials(cases: Mapping[str, Case], traces: Sequence[Trace]) -> tuple[Trial, ...]:
    """One trial per trace, in the same order."""
    return tuple(_scored(cases[trace.case_id], trace) for trace in traces)


def _scored(case: Case, trace: Trace) -> Trial:
    exact = trace.provenance.label == "exact"
    return Trial(
        trace=trace,
        outcomes={scorer.name: score(scorer, case, trace) for scorer in SCORERS},
        hard_violations=route_score_of(case, trace).hard if exact else (),
        first_divergence=_divergence(case, trace) if exact else None,
        reading=_reading(case, trace) if exact else None,
    )


def _reading(case: Case, trace: Trace) -> RouteReading:
    return why(case.route_spec, trace.route, trace.guarded, trace.supersteps)


def _divergence(case: Case, trace: Trace) -> int | None:
    exemplars = [exemplar for way in case.route_spec.alternatives for exemplar in way.exemplars]
    return first_divergence(trace.route, exemplars, trace.supersteps)
