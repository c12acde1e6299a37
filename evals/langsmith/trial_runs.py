"""A trial as a tree of LangSmith runs."""

import datetime as dt
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final, Literal
from uuid import NAMESPACE_URL, UUID, uuid5

from evals.application_pack import load_pack
from evals.cassettes.cassette_data import Interaction
from evals.models.run import CaseInfo, Trial
from evals.models.trace import Call, Decision, Trace, Visit
from evals.report.view.trial_view import visits_by_decision

_OURS: Final = uuid5(NAMESPACE_URL, "https://triage-evals.invalid/langsmith")


def example_id(dataset: UUID, case_id: str) -> UUID:
    """The example of a case: the same whatever its labels become; another one in a dataset that was made anew."""
    return uuid5(_OURS, f"example {dataset} {case_id}")


def run_id(experiment: UUID, path: str, start: dt.datetime) -> UUID:
    """The run at `path` ("case sample decision-2 call-1") of an experiment, which began at `start`."""
    chance = hashlib.sha256(f"run {experiment} {path}".encode()).digest()
    milliseconds = int(start.timestamp() * 1000)
    number = milliseconds << 80 | int.from_bytes(chance[:10], "big")
    number = number & ~(0xF << 76) | 0x7 << 76  # the version
    return UUID(int=number & ~(0x3 << 62) | 0x2 << 62)  # the variant


def feedback_id(run: UUID, key: str) -> UUID:
    """What one scorer says of one run."""
    return uuid5(_OURS, f"feedback {run} {key}")


Kind = Literal["chain", "llm", "tool"]
UNTIMED_MS: Final = 1.0


@dataclass
class Clock:
    """What time it is in a trial."""

    now: dt.datetime

    def pass_ms(self, milliseconds: float) -> None:
        """Let that much time go by."""
        self.now += dt.timedelta(milliseconds=milliseconds)


@dataclass(frozen=True)
class Experiment:
    """Where runs go: the project, and when it began (UTC, whole milliseconds)."""

    id: UUID
    begun: dt.datetime


@dataclass
class LangSmithSpan:
    """A run while it is put together; children are begun with `child`, and it ends with the last of them."""

    experiment: Experiment
    clock: Clock
    path: str
    name: str
    kind: Kind = "chain"
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] | None = None
    error: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    parent: "LangSmithSpan | None" = None
    example: UUID | None = None
    children: "list[LangSmithSpan]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = self.clock.now
        self.end = self.start
        self.id = run_id(self.experiment.id, self.path, self.start)
        own = f"{self.start:%Y%m%dT%H%M%S%f}Z{self.id}"
        self.order: str = f"{self.parent.order}.{own}" if self.parent else own

    def child(self, path: str, name: str, kind: Kind = "chain", **told: Any) -> "LangSmithSpan":  # noqa: ANN401 - fields of a span
        """The next step inside this one, beginning now."""
        made = LangSmithSpan(self.experiment, self.clock, f"{self.path} {path}", name, kind, parent=self, **told)
        self.children.append(made)
        return made

    def close(self) -> None:
        """It ends now; a step in which nothing happened takes the least time there is."""
        if self.clock.now == self.start:
            self.clock.pass_ms(UNTIMED_MS)
        self.end = self.clock.now

    @property
    def root(self) -> "LangSmithSpan":
        """The trial's own run."""
        return self.parent.root if self.parent else self

    def sent(self) -> dict[str, Any]:
        """As the SDK takes it."""
        return {
            "id": str(self.id),
            "trace_id": str(self.root.id),
            "parent_run_id": str(self.parent.id) if self.parent else None,
            "dotted_order": self.order,
            "session_id": str(self.experiment.id),
            "reference_example_id": str(self.example) if self.example else None,
            "name": self.name,
            "run_type": self.kind,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "error": self.error,
            "start_time": self.start.isoformat(),
            "end_time": self.end.isoformat(),
            "extra": {"metadata": self.metadata},
            "tags": list(self.tags),
        }

    def told(self) -> dict[str, Any]:
        """The words of it, without ids and times."""
        kept = ("name", "inputs", "outputs", "error", "extra", "tags")
        return {name: value for name, value in self.sent().items() if name in kept}

    def all(self) -> "list[LangSmithSpan]":
        """This one and all below it, parents first."""
        return [self, *(below for child in self.children for below in child.all())]


Recorded = Callable[[Call], Interaction | None]
"""What was said in a call, where the recording is at hand."""


def nothing_recorded(_call: Call) -> None:
    """Calls without what was said in them."""
    return


def tree_of(
    trial: Trial, case: CaseInfo, experiment: Experiment, example: UUID | None, recorded: Recorded = nothing_recorded
) -> LangSmithSpan:
    """The run of a trial with everything below it."""
    trace = trial.trace
    root = LangSmithSpan(
        experiment,
        Clock(experiment.begun),
        f"{case.id} {trace.sample}",
        case.id,
        inputs={"title": case.title, "body": case.body},
        outputs=result_of(trace),
        error=_ended(trace),
        metadata=_metadata(trial, case),
        tags=(str(trace.provenance), case.slice, case.split),
        example=example,
    )
    calls = _Calls(trace.calls, recorded)
    for place, visit in enumerate(trace.visits if trace.is_target else ()):
        _step(root, visit, trace.decided.get(place), calls)
    steps = () if trace.is_target else zip_longest((None, *trace.decisions), visits_by_decision(trace))
    for decision, visits in steps:
        if decision is not None:
            _decide(root, decision, calls)
        for visit in visits:
            _visit(root, visit, calls)
    calls.rest_below(root)
    root.close()
    return root


class _Calls:
    """The calls of a trace in order, each handed to the step that made it: a decision takes those of the router up
    to its answer, a visit takes those of its worker up to the next one else's."""

    def __init__(self, calls: Sequence[Call], recorded: Recorded) -> None:
        self._left = list(calls)
        self._recorded = recorded
        self._number = 0

    def below(self, span: LangSmithSpan, agent: str, most: int | None = None) -> None:
        """Hand over the calls of `agent` that come next, at most so many."""
        taken = 0
        while self._left and self._left[0].agent == agent and taken != most:
            self._below(span, self._left.pop(0))
            taken += 1

    def rest_below(self, span: LangSmithSpan) -> None:
        """Hand over what nobody took: a trial that failed ended in the middle of a step."""
        while self._left:
            self._below(span, self._left.pop(0))

    def _below(self, span: LangSmithSpan, call: Call) -> None:
        self._number += 1
        said = self._recorded(call)
        made = span.child(
            f"call-{self._number}",
            call.model or "search",
            "llm" if call.model else "tool",
            inputs=said.request if said else {"key": call.key},
            outputs=said.response if said else None,
            metadata=_of_call(call),
        )
        span.clock.pass_ms(call.latency_ms)
        made.close()


def _decide(root: LangSmithSpan, decision: Decision, calls: _Calls) -> None:
    router = load_pack().router
    told = decision.model_dump(
        mode="json", include={"chosen", "routed", "reasoning", "confidence", "question", "overrides"}
    )
    span = root.child(
        f"decision-{decision.index}",
        f"{router} → {decision.routed}",
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
        tags=tuple(f"override:{each.rule}" for each in decision.overrides),
    )
    calls.below(span, router, 1 + decision.corrections)
    span.close()


def _visit(root: LangSmithSpan, visit: Visit, calls: _Calls) -> None:
    told = visit.model_dump(mode="json", include={"findings", "read"})
    metadata = {"superstep": visit.superstep, "reviews_task": visit.reviews}
    path = f"visit-{len(root.children)}"
    span = root.child(path, visit.node, outputs=told, error=visit.error, metadata=metadata)
    calls.below(span, visit.node)
    span.close()


def _step(root: LangSmithSpan, visit: Visit, decision: Decision | None, calls: _Calls) -> None:
    """A step of a target, with the decision it made."""
    made = {"chosen": decision.chosen, "routed": decision.routed} if decision else {}
    span = root.child(
        f"visit-{len(root.children)}",
        f"{visit.node} → {decision.routed}" if decision else visit.node,
        "chain" if visit.arguments is None else "tool",
        inputs=visit.arguments or {},
        outputs=made,
        error=visit.error,
        metadata={"superstep": visit.superstep, **made},
    )
    calls.below(span, visit.node)
    span.close()


def result_of(trace: Trace) -> dict[str, Any]:
    """What came of it."""
    questions = [exchange.model_dump(mode="json") for exchange in trace.exchanges]
    return {"output": trace.output, "route": list(trace.route), "questions": questions}


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
