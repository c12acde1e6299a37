"""One trial: the real graph over given HTTP clients, watched step by step."""

import itertools
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.types import Command
from langsmith import tracing_context

import evals.triage.offline_environment  # noqa: F401 - before LangGraph and LangSmith
from evals.cassettes.calls_and_misses import Ledger, calls_of, misses_of
from evals.cassettes.player import Tape, playing
from evals.models.case import Case, DecisionPoint
from evals.models.suite import Variant
from evals.models.trace import Decision, Exchange, PointAnswer, Provenance, TaskPlan, Trace, Visit
from evals.triage.trial_clients import Clients
from evals.triage.variant_graph import Team, answer_to, searching, team_of
from evals.triage.variant_settings import settings_of
from triage.codebase.checkout_index import index_of_release, tree_of
from triage.codebase.embed import Distances, Embedder, MiniLM, VectorCache
from triage.codebase.index import CodebaseIndex
from triage.codebase.source_files import survey
from triage.graph import DURABILITY, recursion_limit
from triage.job_trace import decision_data, output_data, plan_data, visit_data
from triage.prompts.load import SupervisorPrompt
from triage.state import WORKERS, BugTriageState


@dataclass
class Watcher:
    """Follows one trial. `see` takes every chunk LangGraph streams, in order; `asked` are the states the supervisor
    was asked in, one per decision. `symbols` names what each chunk of the repository shows."""

    variant: Variant
    prompt: SupervisorPrompt | None
    case: Case
    tape: Tape
    repository_files: tuple[str, ...]
    symbols: Callable[[], Mapping[str, str]] = dict
    topology: str = ""
    error: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    asked: list[BugTriageState] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    superstep: int = 0
    _beside: list[tuple[int, Visit]] = field(default_factory=list)
    """The visits of this superstep, each with its task."""
    _ends: list[int] = field(default_factory=list)
    """How many requests had been served when each superstep ended."""

    @property
    def ledger(self) -> Ledger:
        """What the trial asks."""
        return self.tape.ledger

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
        visit = Visit.model_validate(visit_data(node, self.superstep, update, self.symbols()))
        self._beside.append((tasks[0].task_id if tasks else 0, visit))

    def trace(self, trajectory: Ledger, points: tuple[PointAnswer, ...], points_ledger: Ledger) -> Trace:
        """The finished trace: `trajectory` is what the graph asked, `points_ledger` what the frozen states asked."""
        final = BugTriageState.model_validate(self.state) if self.state else None
        return Trace(
            case_id=self.case.id,
            variant=self.variant.name,
            sample=self.tape.sample,
            provenance=self._provenance(trajectory),
            visits=tuple(self.visits),
            decisions=tuple(self.decisions),
            exchanges=tuple(self.exchanges),
            output=output_data(final) if final else {},
            calls=calls_of(trajectory, self._ends, "supervisor"),
            misses=misses_of(trajectory, self.tape.cassette, len(self.decisions)),
            points=points,
            point_misses=misses_of(points_ledger, self.tape.cassette, 0),
            facts={"repository_files": self.repository_files},
            topology=self.topology,
            plan=TaskPlan.model_validate(plan_data(final.plan)) if final and final.plan else None,
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


# isort: split

_threads: Final = itertools.count()
"""Trials may share a graph; each has a thread of its own in its memory."""


def embedder_at(vectors: Path) -> MiniLM:
    """An embedder that knows the committed vectors at `vectors`."""
    return MiniLM(VectorCache(vectors))


def trees_for(case: Case, cache: Path) -> Path | None:
    """Where the cut code of a case is kept that is a commit of somebody's repository; None for any other case."""
    return cache / "trees" if case.labels.base_commit is not None else None


@dataclass(frozen=True)
class IndexedCode:
    """The indexed code one case is about; one per case and process, since indexing is the expensive part."""

    index: CodebaseIndex
    embedder: Embedder

    @classmethod
    def at(cls, tree: Path, vectors: Path, trees: Path | None = None) -> "IndexedCode":
        """Index `tree`, with the committed vectors at `vectors` where they are known; `trees` as in `over`."""
        return cls.over(tree, embedder_at(vectors), trees)

    @classmethod
    def over(cls, tree: Path, embedder: MiniLM, trees: Path | None = None) -> "IndexedCode":
        """Index `tree` with an embedder that other repositories share, so that their new vectors are saved together.

        With `trees` it is a commit of somebody's repository, of any size: searched as `triage run` searches a checkout,
        by the same code, and kept in that folder as it was cut.
        """
        if trees is None:
            return cls(CodebaseIndex.build(tree, embedder), embedder)
        texts = survey(tree, committed=True).texts
        cut = tree_of(texts, trees)
        return cls(CodebaseIndex(cut.chunks, frozenset(texts), embedder, words=cut.words), embedder)

    @classmethod
    def of_release(cls, tree: Path, distances: Distances) -> "IndexedCode":
        """Index a released package, at `tree` below the caches, the way of live use; what was measured before is not
        measured again."""
        index = index_of_release(tree, tree.parent.parent / "index", distances)
        return cls(index, index.embedder)


@dataclass(frozen=True)
class CaseTarget:
    """The team of one variant on one case's repository."""

    variant: Variant
    team: Team
    repository: IndexedCode

    @classmethod
    def of(
        cls, variant: Variant, clients: Clients, repository: IndexedCode, prompt: SupervisorPrompt | None = None
    ) -> "CaseTarget":
        """Assemble the variant, with its `prompt` where that was read before. Raises ConfigurationError for a prompt or
        guard set that does not exist."""
        return cls(variant, team_of(variant, clients, prompt), repository)


async def run_trial(subject: CaseTarget, case: Case, tape: Tape, halted: Callable[[], bool] = lambda: False) -> Trace:
    """Run one trial to its end, its first miss, or its failure; frozen decision points are asked afterwards.

    `halted` is asked after every step and may stop the trial from outside, as a recorder does whose endpoint fails.
    The tape's ledger holds what was served, decision points included; misses of those are kept apart.
    """
    watcher = await watched(subject, case, tape, halted)
    trajectory = Ledger(list(tape.ledger.served), list(tape.ledger.misses))
    points_tape = Tape(tape.cassette, Ledger(failures=tape.ledger.failures), tape.sample, tape.samples)
    with playing(points_tape), searching(subject.repository.index), tracing_context(enabled=False):
        frozen = () if subject.variant.forced else case.labels.decision_points
        points = tuple([await _ask(subject, case, point, points_tape.ledger, halted) for point in frozen])
    tape.ledger.served.extend(points_tape.ledger.served)
    return watcher.trace(trajectory, points, points_tape.ledger)


async def watched(subject: CaseTarget, case: Case, tape: Tape, halted: Callable[[], bool] = lambda: False) -> Watcher:
    """Let the graph run on the tape to its end, its first miss, or its failure, and return who watched it."""
    index, team = subject.repository.index, subject.team
    files = tuple(sorted(index.paths))
    watcher = Watcher(subject.variant, team.configuration.prompt, case, tape, files, lambda: index.symbols)
    watcher.topology = team.topology
    if case.only_points:
        return watcher
    thread = f"{case.id} {next(_threads)}"
    with playing(tape), searching(subject.repository.index), tracing_context(enabled=False):
        try:
            await _drive(subject, case, thread, watcher, halted)
        except GraphRecursionError:
            pass  # a graph that loops until LangGraph stops it has shown its route: that is a result, and a bad one
        except Exception as error:  # noqa: BLE001 - a trial that fails is a value; the gate decides what it means
            if not tape.ledger.misses:
                watcher.error = f"{type(error).__name__}: {error}".splitlines()[0]
        finally:
            team.forget(thread)
    return watcher


def start_of(subject: CaseTarget, case: Case) -> BugTriageState:
    """The state a trial of the case begins in."""
    return BugTriageState(
        job_id=case.id,
        issue_title=case.title,
        issue_body=case.body,
        issue_url=case.url,
        repository=case.repository,
        max_iterations=settings_of(subject.variant).max_iterations,
    )


def thread_of(subject: CaseTarget, thread: str) -> RunnableConfig:
    """What the graph is called with: the trial's own thread in its memory, and how long it may go on."""
    settings = settings_of(subject.variant)
    limit = recursion_limit(settings.max_iterations, settings.supervisor)
    return {"configurable": {"thread_id": thread}, "recursion_limit": limit}


async def _drive(subject: CaseTarget, case: Case, thread: str, watcher: Watcher, halted: Callable[[], bool]) -> None:
    graph: Any = subject.team.graph  # its overloads do not tell what several stream modes give
    config = thread_of(subject, thread)
    turn: object = start_of(subject, case)
    while turn is not None:
        waiting = None
        async with aclosing(
            graph.astream(turn, config, stream_mode=["updates", "values"], durability=DURABILITY)
        ) as stream:
            async for mode, chunk in stream:
                if mode == "updates" and "__interrupt__" in chunk:
                    waiting = chunk["__interrupt__"][0].value
                    continue
                watcher.see(mode, chunk)
                if mode == "values" and (watcher.ledger.misses or halted()):
                    return  # never amid a superstep: its neighbours' requests would be cut off at a point of chance
        turn = Command(resume=_reply(waiting.question, waiting.context, case, watcher)) if waiting else None


def _reply(question: str, context: str, case: Case, watcher: Watcher) -> str:
    given = {exchange.topic for exchange in watcher.exchanges}
    answer, topic = answer_to(f"{question}\n{context}", case.labels.question, given)
    watcher.hear(question, context, answer, topic)
    return answer


async def _ask(
    subject: CaseTarget, case: Case, point: DecisionPoint, ledger: Ledger, halted: Callable[[], bool]
) -> PointAnswer:
    """Put one frozen state to the supervisor; a request nobody recorded leaves `chosen` empty.

    Raises whatever else goes wrong: only a miss, which the ledger knows, may leave a point unanswered.
    """
    if halted():
        return PointAnswer(point=point.id, chosen=None, routed=None)
    state = BugTriageState.model_validate(
        {
            "issue_title": case.title,
            "issue_body": case.body,
            "issue_url": case.url,
            "repository": case.repository,
            "max_iterations": settings_of(subject.variant).max_iterations,
            **point.state,
        }
    )
    served, missed = len(ledger.served), len(ledger.misses)
    try:
        update = await subject.team.decide(state)
    except Exception:
        if len(ledger.misses) == missed and not halted():
            raise
        return PointAnswer(point=point.id, chosen=None, routed=None, keys=_keys(ledger, served))
    return PointAnswer(
        point=point.id,
        chosen=update["next_node"],
        routed=update["routed_node"],
        confidence=update["supervisor_confidence"],
        reasoning=update["supervisor_reasoning"],
        keys=_keys(ledger, served),
        models=tuple(sorted({found.model for found in ledger.served[served:] if found.model})),
        say=subject.team.has_a_say(state),
    )


def _keys(ledger: Ledger, since: int) -> tuple[str, ...]:
    return tuple(found.key for found in ledger.served[since:])
