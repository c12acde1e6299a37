"""Turns what the graph streams into a trace: decisions, visits, questions, and what they rest on."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

from evals.cassette.ledger import Ledger
from evals.cassette.nearest import nearest
from evals.cassette.player import Tape
from evals.cassette.store import Cassette
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import (
    Call,
    Decision,
    Exchange,
    Miss,
    Plan,
    PointAnswer,
    Provenance,
    Report,
    Trace,
    Visit,
)
from triage.prompts import SupervisorPrompt
from triage.state import WORKERS, BugTriageState
from triage.trace import decision_data, plan_data, visit_data


class Watcher:
    """Follows one trial. `see` takes every chunk LangGraph streams, in order; `asked` are the states the supervisor
    was asked in, one per decision. `symbols` names what each chunk of the repository shows."""

    def __init__(
        self,
        variant: Variant,
        prompt: SupervisorPrompt | None,
        case: Case,
        tape: Tape,
        repository_files: tuple[str, ...],
        symbols: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.variant = variant
        self.prompt = prompt
        self.case = case
        self.cassette = tape.cassette
        self.ledger = tape.ledger
        self.sample = tape.sample
        self.repository_files = repository_files
        self.symbols = symbols
        self.topology = ""
        self.error: str | None = None
        self.state: dict[str, Any] = {}
        self.asked: list[BugTriageState] = []
        self.decisions: list[Decision] = []
        self.visits: list[Visit] = []
        self._beside: list[tuple[int, Visit]] = []  # the visits of this superstep, each with its task
        self._ends: list[int] = []  # how many requests had been served when each superstep ended
        self.exchanges: list[Exchange] = []
        self.superstep = 0

    def see(self, mode: str, chunk: Mapping[str, Any]) -> None:
        """One streamed chunk: a node's update, or the state after a step. A superstep with a miss is dropped: what a
        visit made of it is no evidence, and how far its neighbours came is chance."""
        if self.ledger.misses:
            return
        if mode == "values":
            self._stepped(chunk)
            return
        for node, update in chunk.items():
            if node == "supervisor":
                self._decided(update)
            elif node in WORKERS:
                self._visited(node, update)

    def _stepped(self, values: Mapping[str, Any]) -> None:
        """A superstep is over. Which of several visits came back first is chance; their tasks have an order."""
        self.visits += [visit for _, visit in sorted(self._beside, key=lambda pair: pair[0])]
        self._beside.clear()
        self._ends.append(len(self.ledger.served))
        self.state = dict(values)
        self.superstep += 1

    def hear(self, question: str, context: str, answer: str, topic: str | None) -> None:
        """The simulated user was asked."""
        self.exchanges.append(Exchange(question=question, context=context, answer=answer, topic=topic))

    def _decided(self, update: Mapping[str, Any]) -> None:
        before = BugTriageState.model_validate(self.state)
        self.asked.append(before)
        made = decision_data(len(self.decisions), before, update, self.prompt)
        self.decisions.append(Decision.model_validate(made))

    def _visited(self, node: str, update: Mapping[str, Any]) -> None:
        tasks = update.get("plan", ())
        visit = Visit.model_validate(visit_data(node, self.superstep, update, self.symbols))
        self._beside.append((tasks[0].task_id if tasks else 0, visit))

    def trace(self, trajectory: Ledger, points: tuple[PointAnswer, ...], points_ledger: Ledger) -> Trace:
        """The finished trace: `trajectory` is what the graph asked, `points_ledger` what the frozen states asked."""
        final = BugTriageState.model_validate(self.state) if self.state else None
        return Trace(
            case_id=self.case.id,
            variant=self.variant.name,
            sample=self.sample,
            provenance=self._provenance(trajectory),
            visits=tuple(self.visits),
            decisions=tuple(self.decisions),
            exchanges=tuple(self.exchanges),
            report=Report.model_validate(final.report.model_dump()) if final and final.report else None,
            comment=final.comment if final else "",
            ticket=final.ticket.model_dump() if final and final.ticket else None,
            calls=_calls(trajectory, self._ends),
            misses=_misses(trajectory, self.cassette, len(self.decisions)),
            points=points,
            point_misses=_misses(points_ledger, self.cassette, 0),
            repository_files=self.repository_files,
            topology=self.topology,
            plan=Plan.model_validate(plan_data(final.plan)) if final and final.plan else None,
            error=self.error,
        )

    def _provenance(self, trajectory: Ledger) -> Provenance:
        if self.error is not None:
            return Provenance(label="failed")
        if not trajectory.misses:
            return Provenance(label="exact")
        if not self.decisions:
            return Provenance(label="unrecorded")
        return Provenance(label="frontier", frontier=len(self.decisions))


def _calls(ledger: Ledger, ends: Sequence[int] = ()) -> tuple[Call, ...]:
    """The calls in order. Agents may ask for several things at once (the writer does), and tasks of a plan run side by
    side; whose answer comes first is chance: calls of one superstep, or of one agent in a row, are ordered by agent and
    key. The supervisor asks one thing after the other. `ends` are the places where supersteps ended."""
    steps = [bisect_left(ends, place + 1) for place in range(len(ledger.served))]
    placed = zip(steps, ledger.served, strict=True)
    in_a_row = (
        sorted((served for _, served in row), key=lambda one: (one.agent, "" if one.agent == "supervisor" else one.key))
        for _, row in groupby(placed, key=lambda pair: (pair[0], "" if ends else pair[1].agent))
    )
    return tuple(
        Call(
            agent=served.agent,
            key=served.key,
            model=served.model,
            prompt_tokens=served.usage.prompt_tokens,
            completion_tokens=served.usage.completion_tokens,
            latency_ms=served.latency_ms,
            recorded_by=served.recorded_by,
        )
        for row in in_a_row
        for served in row
    )


def _misses(ledger: Ledger, cassette: Cassette, decision: int) -> tuple[Miss, ...]:
    return tuple(
        Miss(
            key=missed.key,
            agent=missed.agent,
            method=missed.method,
            path=missed.path,
            model=missed.model,
            decision=decision,
            characters=len(missed.body),
            nearest=nearest(missed, cassette),
        )
        for missed in sorted(ledger.misses, key=lambda missed: (missed.agent, missed.key))
    )
