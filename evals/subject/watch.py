"""Turns what the graph streams into a trace: decisions, visits, questions, and what they rest on."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from evals.cassette.ledger import Ledger
from evals.cassette.player import Tape
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import (
    Call,
    Decision,
    Exchange,
    Finding,
    GuardVeto,
    Miss,
    PointAnswer,
    Provenance,
    Report,
    Trace,
    Visit,
)
from triage.context import supervisor_context
from triage.prompts import SupervisorPrompt
from triage.state import WORKERS, BugTriageState


class Watcher:
    """Follows one trial. `see` takes every chunk LangGraph streams, in order; `asked` are the states the supervisor
    was asked in, one per decision."""

    def __init__(
        self, variant: Variant, prompt: SupervisorPrompt, case: Case, tape: Tape, repository_files: tuple[str, ...]
    ) -> None:
        self.variant = variant
        self.prompt = prompt
        self.case = case
        self.ledger = tape.ledger
        self.sample = tape.sample
        self.repository_files = repository_files
        self.topology = ""
        self.error: str | None = None
        self.state: dict[str, Any] = {}
        self.asked: list[BugTriageState] = []
        self.decisions: list[Decision] = []
        self.visits: list[Visit] = []
        self.exchanges: list[Exchange] = []
        self.superstep = 0

    def see(self, mode: str, chunk: Mapping[str, Any]) -> None:
        """One streamed chunk: a node's update, or the state after a step. What a visit made of a miss is dropped."""
        if self.ledger.misses:
            return
        if mode == "values":
            self.state = dict(chunk)
            self.superstep += 1
            return
        for node, update in chunk.items():
            if node == "supervisor":
                self._decided(update)
            elif node in WORKERS:
                self._visited(node, update)

    def hear(self, question: str, context: str, answer: str, topic: str | None) -> None:
        """The simulated user was asked."""
        self.exchanges.append(Exchange(question=question, context=context, answer=answer, topic=topic))

    def _decided(self, update: Mapping[str, Any]) -> None:
        before = BugTriageState.model_validate(self.state)
        self.asked.append(before)
        pending = update.get("pending_exchange")
        self.decisions.append(
            Decision(
                index=len(self.decisions),
                iteration=before.iterations,
                context=supervisor_context(before, self.prompt),
                chosen=update["next_node"],
                routed=update["routed_node"],
                reasoning=update["supervisor_reasoning"],
                confidence=update["supervisor_confidence"],
                question=pending.question if pending else None,
                vetoes=tuple(
                    GuardVeto(guard=veto.guard, chosen=veto.chosen, send_to=veto.send_to)
                    for veto in update.get("vetoes", ())
                ),
                forced_fallback=update["forced_fallback"],
                corrections=update["corrections"],
            )
        )

    def _visited(self, node: Any, update: Mapping[str, Any]) -> None:  # noqa: ANN401 - LangGraph streams plain strings
        errors = update.get("agent_errors", ())
        self.visits.append(
            Visit(
                node=node,
                superstep=self.superstep,
                findings=tuple(Finding.model_validate(found.model_dump()) for found in update.get("findings", ())),
                error=errors[0].error if errors else None,
            )
        )

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
            calls=_calls(trajectory),
            misses=_misses(trajectory, len(self.decisions)),
            points=points,
            point_misses=_misses(points_ledger, 0),
            repository_files=self.repository_files,
            topology=self.topology,
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


def _calls(ledger: Ledger) -> tuple[Call, ...]:
    """The calls in order. An agent may ask for several things at once (the writer does), and whose answer comes
    first is chance: calls of one agent in a row are ordered by key."""
    in_a_row = (sorted(row, key=lambda served: served.key) for _, row in groupby(ledger.served, lambda one: one.agent))
    return tuple(
        Call(
            agent=served.agent,
            key=served.key,
            model=served.model,
            prompt_tokens=served.usage.prompt_tokens,
            completion_tokens=served.usage.completion_tokens,
            latency_ms=served.latency_ms,
        )
        for row in in_a_row
        for served in row
    )


def _misses(ledger: Ledger, decision: int) -> tuple[Miss, ...]:
    return tuple(
        Miss(
            key=missed.key,
            agent=missed.agent,
            method=missed.method,
            path=missed.path,
            model=missed.model,
            decision=decision,
        )
        for missed in ledger.misses
    )
