"""Which step took a trial off the recorded tape, where no request was changed on purpose."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from evals.models.trace import Decision, Miss, Trace, Visit

Way = tuple[str, tuple[str, ...]]
"""An agent, and the visits before it was asked."""

_ENOUGH: Final = 24
"""Characters of a finding that tell it from others; shorter ones stand in any text."""
_SHOWN: Final = 4  # visits of a way


@dataclass(frozen=True)
class Step:
    """A step in words; `group` is the same for the same step of other trials."""

    text: str
    group: str


def first_step(trace: Trace, miss: Miss, asked: str, recorded: Collection[str], walked: Collection[Way]) -> Step | None:
    """The first step whose outcome stands in what is `asked` and in no `recorded` line of the nearest request; else the
    way itself, if no trial on tape has `walked` it. None if no step explains the miss."""
    told = "\n".join(recorded)
    for number, visit in enumerate(trace.visits, 1):
        texts = [text for finding in visit.findings for text in (finding.summary, finding.details)]
        if any(_is_news(text, asked, told) for text in texts):
            return _visited(number, visit, trace)
    for number, exchange in enumerate(trace.exchanges, 1):
        if _is_news(exchange.answer, asked, told) or _is_news(exchange.question, asked, told):
            return Step(f"question {number} or its answer is another", "question")
    if (miss.agent, trace.walked) in walked:
        return None
    return _sent(trace.decisions[-1], trace, miss.agent)


def ways_of(trace: Trace) -> set[Way]:
    """The ways a trial went on tape; where it missed something, the last is not among them."""
    route: tuple[str, ...] = trace.walked
    ways = {(str(node), route[:place]) for place, node in enumerate(route)}
    asked = {("supervisor", route[:place]) for place in range(min(len(trace.decisions), len(route) + 1))}
    return ways | asked


def _is_news(text: str, asked: str, told: str) -> bool:
    """Whether a text, or as much of it as can be shown, is asked now and was not told before."""
    line = next((line for line in text.splitlines() if line.strip()), "")[: 4 * _ENOUGH].strip()
    return len(line) >= _ENOUGH and line in asked and line not in told


def _visited(number: int, visit: Visit, trace: Trace) -> Step:
    """The visit is news: because a guard sent the trial there, or because it found something else."""
    went = [decision for decision in trace.decisions if decision.routed != "end"]
    place = sorted({other.superstep for other in trace.visits}).index(visit.superstep)
    if place < len(went) and went[place].vetoes:
        return _overruled(went[place])
    return Step(f"what visit {number} ({visit.node}) found is in no recorded request", f"visit {visit.node}")


def _sent(decision: Decision, trace: Trace, agent: str) -> Step:
    """The last decision led where no recording went."""
    if decision.vetoes and decision.routed == agent:
        return _overruled(decision)
    visits = trace.walked[-_SHOWN:]
    way = " ".join(visits) or "no visit"
    skipped = f"{len(trace.walked) - _SHOWN} visits and " if len(trace.walked) > _SHOWN else ""
    return Step(f"{agent} is asked after {skipped}{way}, as in no recorded trial", f"{agent} {' '.join(trace.walked)}")


def _overruled(decision: Decision) -> Step:
    veto = decision.vetoes[-1]
    said = f"{veto.guard} sent {veto.chosen} to {veto.send_to}"
    return Step(f"{said} (decision {decision.index + 1})", said)
