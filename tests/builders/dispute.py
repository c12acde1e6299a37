"""Trials that agree or disagree with their labels."""

from collections.abc import Sequence
from typing import Any

from evals.models.case import RouteReading
from evals.models.metrics import Outcome, Scored
from evals.models.run import Run, Trial
from tests.builders.case import a_spec
from tests.builders.run import a_case_info, a_run, a_trial, a_variant_info
from tests.builders.trace import a_trace

SPEC = a_spec()


def an_answer_to(
    case_id: str = "a",
    who: str = "v2",
    *breaks: str,
    decides: Sequence[str] = (),
    right: bool = True,
    category: float | None = None,
    **fields: Any,
) -> Trial:
    """An exact trial; its route passes unless it breaks a rule. `fields` are those of a trace."""
    outcomes: dict[str, Outcome] = {
        "route.pass": Scored(value=float(not breaks)),
        "root_cause.hit": Scored(value=float(right)),
    }
    if category is not None:
        outcomes["root_cause.category"] = Scored(value=category)
    shares = (1.0,) * len(SPEC.alternatives[0].constraints)
    reading = RouteReading(alternative=0, shares=shares, breaks=breaks, decides=tuple(decides))
    return a_trial(a_trace(case_id=case_id, variant=who, **fields), outcomes, reading=reading)


def a_disputed_run(*trials: Trial, held_out: Sequence[str] = (), gate: Sequence[str] = (), **fields: Any) -> Run:
    """A run of these trials over cases of `tune` unless told otherwise; `fields` are those of every case."""
    names = dict.fromkeys(trial.trace.case_id for trial in trials)
    split = {name: "holdout" if name in held_out else "gate" if name in gate else "tune" for name in names}
    return a_run(
        *trials,
        cases=[a_case_info(name, **{"split": split[name], "route_spec": SPEC, **fields}) for name in names],
        variants=[a_variant_info(name) for name in dict.fromkeys(trial.trace.variant for trial in trials)],
        comparisons=(),
    )
