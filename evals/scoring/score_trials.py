"""Apply every scorer to every trace; grade answers at decision points."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evals.models.case import Case
from evals.models.route_spec import RouteReading
from evals.models.run import Trial
from evals.models.trace import Trace
from evals.routes.route_check import first_divergence, why
from evals.scoring.registry import SCORED, noted, scorers
from evals.scoring.route_scorers import route_score_of
from evals.scoring.scorer import Scorer, score

if TYPE_CHECKING:
    from evals.application_pack import Pack


def score_trials(cases: Mapping[str, Case], traces: Sequence[Trace], pack: "Pack | None" = None) -> tuple[Trial, ...]:
    """One trial per trace, in the same order, scored by the scorers of the pack (of the default one if none is given).

    Raises:
        ConfigurationError: the pack's scorers cannot be loaded.
    """
    listed = scorers(pack)
    with noted(SCORED, own=not all(scorer.function.__module__.startswith("evals.") for scorer in listed)):
        return tuple(_scored(cases[trace.case_id], trace, listed) for trace in traces)


def _scored(case: Case, trace: Trace, listed: Sequence[Scorer]) -> Trial:
    exact = trace.provenance.label == "exact"
    return Trial(
        trace=trace,
        outcomes={scorer.name: score(scorer, case, trace) for scorer in listed},
        hard_violations=route_score_of(case, trace).hard if exact else (),
        first_divergence=_divergence(case, trace) if exact else None,
        reading=_reading(case, trace) if exact else None,
    )


def _reading(case: Case, trace: Trace) -> RouteReading:
    spec = case.route_spec
    return why(spec, trace.route, trace.state(spec.node_caps), trace.supersteps)


def _divergence(case: Case, trace: Trace) -> int | None:
    exemplars = [exemplar for way in case.route_spec.alternatives for exemplar in way.exemplars]
    return first_divergence(trace.route, exemplars, trace.supersteps)
