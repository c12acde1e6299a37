"""A trial as a tree of runs: decisions of the supervisor and visits of workers in turn, each with the calls it made."""

from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

from evals.cassette.interaction import Interaction
from evals.langsmith.span import Clock, Experiment, Span
from evals.models.run import CaseInfo, Trial
from evals.models.trace import Call, Decision, Trace, Visit
from evals.report.view.trial import visit_groups

SUPERVISOR: Final = "supervisor"
Recorded = Callable[[Call], Interaction | None]
"""What was said in a call, where the recording is at hand."""


def nothing_recorded(_call: Call) -> None:
    """Calls without what was said in them."""
    return


def tree_of(
    trial: Trial, case: CaseInfo, experiment: Experiment, example: UUID | None, recorded: Recorded = nothing_recorded
) -> Span:
    """The run of a trial with everything below it."""
    trace = trial.trace
    root = Span(
        experiment,
        Clock(experiment.begun),
        f"{case.id} {trace.sample}",
        case.id,
        inputs={"title": case.title, "body": case.body},
        outputs=result_of(trace),
        error=_ended(trace),
        metadata=_metadata(trial, case),
        tags=(str(trace.provenance), case.archetype, case.split),
        example=example,
    )
    calls = _Calls(trace.calls, recorded)
    groups = visit_groups(trace)
    for decision in trace.decisions:
        _decide(root, decision, calls)
        for visit in groups.pop(0) if decision.routed != "end" and groups else ():
            _visit(root, visit, calls)
    for visit in (left for group in groups for left in group):  # of a trace that was cut off, or has no decisions
        _visit(root, visit, calls)
    calls.rest_below(root)
    root.close()
    return root


class _Calls:
    """The calls of a trace in order, each handed to the step that made it: a decision takes those of the supervisor up
    to its answer, a visit takes those of its worker up to the next one else's."""

    def __init__(self, calls: Sequence[Call], recorded: Recorded) -> None:
        self._left = list(calls)
        self._recorded = recorded
        self._number = 0

    def below(self, span: Span, agent: str, most: int | None = None) -> None:
        """Hand over the calls of `agent` that come next, at most so many."""
        taken = 0
        while self._left and self._left[0].agent == agent and taken != most:
            self._below(span, self._left.pop(0))
            taken += 1

    def rest_below(self, span: Span) -> None:
        """Hand over what nobody took: a trial that failed ended in the middle of a step."""
        while self._left:
            self._below(span, self._left.pop(0))

    def _below(self, span: Span, call: Call) -> None:
        self._number += 1
        said = self._recorded(call)
        made = span.child(
            f"call-{self._number}",
            call.model or "search",
            "llm" if call.model else "tool",
            inputs=_asked(call, said),
            outputs=_answered(said),
            metadata=_of_call(call),
        )
        span.clock.pass_ms(call.latency_ms)
        made.close()


def _decide(root: Span, decision: Decision, calls: _Calls) -> None:
    told = decision.model_dump(
        mode="json", include={"chosen", "routed", "reasoning", "confidence", "question", "vetoes"}
    )
    span = root.child(
        f"decision-{decision.index}",
        f"{SUPERVISOR} → {decision.routed}",
        inputs={"context": decision.context},
        outputs=told,
        error=decision.error,
        metadata={
            "decision": decision.index,
            "iteration": decision.iteration,
            "chosen": decision.chosen,
            "routed": decision.routed,
            "confidence": decision.confidence,
            "forced_fallback": decision.forced_fallback,
        },
        tags=tuple(f"veto:{veto.guard}" for veto in decision.vetoes),
    )
    calls.below(span, SUPERVISOR, 1 + decision.corrections)
    span.close()


def _visit(root: Span, visit: Visit, calls: _Calls) -> None:
    told = visit.model_dump(mode="json", include={"findings", "read"})
    metadata = {"superstep": visit.superstep, "reviews_task": visit.reviews}
    path = f"visit-{len(root.children)}"
    span = root.child(path, visit.node, outputs=told, error=visit.error, metadata=metadata)
    calls.below(span, visit.node)
    span.close()


def result_of(trace: Trace) -> dict[str, Any]:
    """What came of it."""
    return {
        "report": trace.report.model_dump(mode="json") if trace.report else None,
        "comment": trace.comment,
        "ticket": trace.ticket,
        "route": list(trace.route),
        "questions": [exchange.model_dump(mode="json") for exchange in trace.exchanges],
    }


def _ended(trace: Trace) -> str | None:
    """Why there is not all of it; None of an exact trial."""
    if trace.provenance.label == "exact":
        return None
    return trace.error or f"{trace.provenance}: the recording ends here, nothing later is known"


def _metadata(trial: Trial, case: CaseInfo) -> dict[str, Any]:
    trace = trial.trace
    timed = any(call.latency_ms for call in trace.calls)
    return {
        "case": case.id,
        "variant": trace.variant,
        "sample": trace.sample,
        "provenance": str(trace.provenance),
        "route": " → ".join(trace.route),
        "hard_violations": list(trial.hard_violations),
        "case_digest": case.digest,
        "recorded_by": sorted({call.recorded_by for call in trace.calls if call.recorded_by}),
        "times": "as recorded, one step after the other" if timed else "not recorded: a millisecond a step",
    }


def _of_call(call: Call) -> dict[str, Any]:
    told: dict[str, Any] = {"agent": call.agent, "key": call.key}
    if not call.model:
        return told
    tokens = {"input_tokens": call.prompt_tokens, "output_tokens": call.completion_tokens}
    counted = {"usage_metadata": {**tokens, "total_tokens": sum(tokens.values())}} if any(tokens.values()) else {}
    return {**told, "ls_model_name": call.model, "ls_model_type": "chat", **counted}


def _asked(call: Call, said: Interaction | None) -> dict[str, Any]:
    return {"key": call.key} if said is None else said.request


def _answered(said: Interaction | None) -> dict[str, Any] | None:
    return None if said is None else said.response
