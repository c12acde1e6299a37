"""Which step took a trial off the recorded tape, where no request was changed on purpose."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.models.trace import Decision, Miss, Trace, Visit

_ENOUGH = 24
"""Characters of a finding that tell it from others; shorter ones stand in any text."""


@dataclass(frozen=True)
class Step:
    """A step in words; `group` is the same for the same step of other trials."""

    text: str
    group: str


def first_step(trace: Trace, miss: Miss, asked: Sequence[str]) -> Step | None:
    """The first step whose outcome stands in what was `asked` otherwise than in the nearest recorded request; where
    nothing of this agent is recorded, the decision that sent the trial to it. None if no step explains the miss."""
    if miss.nearest is None:
        return _sent(trace.decisions[-1]) if trace.decisions else None
    new = "\n".join(asked)
    for number, visit in enumerate(trace.visits, 1):
        if any(_stands(text, new) for finding in visit.findings for text in (finding.summary, finding.details)):
            return _visited(number, visit, trace)
    for number, exchange in enumerate(trace.exchanges, 1):
        if _stands(exchange.answer, new) or _stands(exchange.question, new):
            return Step(f"question {number} or its answer is another", "question")
    vetoed = [decision for decision in trace.decisions if decision.vetoes]
    return _sent(vetoed[-1]) if vetoed else None


def _stands(text: str, within: str) -> bool:
    """Whether a text, or as much of it as can be shown, is part of what was asked."""
    line = next((line for line in text.splitlines() if line.strip()), "")[: 4 * _ENOUGH].strip()
    return len(line) >= _ENOUGH and line in within


def _visited(number: int, visit: Visit, trace: Trace) -> Step:
    """The visit is new: because a guard sent the trial there, or because it found something else."""
    went = [decision for decision in trace.decisions if decision.routed != "end"]
    supersteps = sorted({other.superstep for other in trace.visits})
    place = supersteps.index(visit.superstep)
    if place < len(went) and went[place].vetoes:
        return _sent(went[place])
    return Step(f"visit {number} ({visit.node}) has no recorded follow-up", f"visit {visit.node}")


def _sent(decision: Decision) -> Step:
    if decision.vetoes:
        veto = decision.vetoes[-1]
        said = f"{veto.guard} sent {veto.chosen} to {veto.send_to}"
        return Step(f"{said} (decision {decision.index + 1})", said)
    said = f"{decision.routed} was chosen, where no recording has it"
    return Step(f"{said} (decision {decision.index + 1})", said)
