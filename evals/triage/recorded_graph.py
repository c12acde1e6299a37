"""The graph of a variant on a cassette, the code indexes it searches, and the trials of a case replayed there."""

import asyncio
import gc
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from evals.cassettes.calls_and_misses import Ledger, describe
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.player import Tape, playing
from evals.errors import ConfigurationError, MissError
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.runner.case_task import CaseTask, failed
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.fix_lines import fix_lines
from evals.triage.graph_trial import CaseTarget, IndexedCode, embedder_at, run_trial, start_of, thread_of, trees_for
from evals.triage.trial_clients import Clients, replay_clients, runner
from evals.triage.variant_graph import searching
from evals.workspace import Workspace
from triage.agents import AGENTS
from triage.agents.agent import worker_node
from triage.codebase.embed import Distances, MiniLM
from triage.graph import TriageGraph
from triage.prompts.load import SupervisorPrompt
from triage.state import BugTriageState

_threads: Final = itertools.count()


@dataclass(frozen=True)
class OnTape:
    """What a test is given. All requests are answered from the recording; one that is not there is a MissError."""

    case: Case
    graph: TriageGraph
    """The compiled graph of the variant; call it as ever, with `state` and `config`."""
    state: BugTriageState
    """What a trial of the case begins with."""
    config: RunnableConfig
    """A thread of its own in the graph's memory, and the recursion limit of a trial."""
    ledger: Ledger
    """What was asked and answered so far, and what nobody recorded."""
    _subject: CaseTarget

    async def visit(self, agent: str, state: BugTriageState | None = None) -> dict[str, Any]:
        """What one agent of the team adds to a state (the first one, if none is given), as a node of the graph does.

        Raises:
            ConfigurationError: nobody of that name.
            MissError: the agent asked something that is not on the tape.
        """
        named = {name: each for name, each in AGENTS.items() if name == agent}
        if not named:
            raise ConfigurationError(f"no agent {agent!r}; name one of {', '.join(AGENTS)}")
        (chosen,) = named.values()
        update = await worker_node(chosen, self._subject.team.toolbox)(state or self.state)
        self.check()
        return update

    def check(self) -> None:
        """Raises MissError where something was asked that nobody recorded, whoever swallowed it."""
        if self.ledger.misses:
            raise MissError(describe(self.ledger.misses[0]))


@contextmanager
def on_tape(subject: CaseTarget, case: Case, tape: Tape) -> Iterator[OnTape]:
    """The graph, with the tape playing and the case's code to be searched as long as the block lasts.

    Raises MissError at the end of a block that asked something nobody recorded: agents and tools swallow exceptions.
    """
    thread = f"{case.id} of a test {next(_threads)}"
    config = thread_of(subject, thread)
    found = OnTape(case, subject.team.graph, start_of(subject, case), config, tape.ledger, subject)
    with playing(tape), searching(subject.repository.index), tracing_context(enabled=False):
        try:
            yield found
        finally:
            subject.team.forget(thread)
        found.check()


@dataclass(frozen=True)
class CaseTrials:
    """Trials of one case on its indexed code; see `evals.application_pack.CaseRunner`."""

    case: Case
    code: IndexedCode

    async def run(
        self, variant: Variant, tape: Tape, clients: Clients, halted: Callable[[], bool] = lambda: False
    ) -> Trace:
        """Run one trial."""
        return await run_trial(CaseTarget.of(variant, clients, self.code), self.case, tape, halted)


class Repositories:
    """Each case's code, indexed when it is first asked for; cases of equal code share it. One embedder serves them all:
    the model behind it is loaded as soon as a text is new, and takes sixty megabytes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._embedder = embedder_at(workspace.vectors)
        self._distances = Distances(workspace.distances)
        self._trees: dict[str, Path] = {}
        self._indexed: dict[Path, IndexedCode] = {}

    def of(self, case: Case) -> IndexedCode:
        """The code of `case`: indexing is the expensive part of a trial."""
        if case.id not in self._trees:
            self._trees[case.id] = materialise(case, self._workspace.datasets, self._workspace.cache)
        tree = self._trees[case.id]
        if tree not in self._indexed:
            self._indexed[tree] = self._index(case, tree)
        return self._indexed[tree]

    def open(self, case: Case) -> CaseTrials:
        """Trials of `case`."""
        return CaseTrials(case, self.of(case))

    def _index(self, case: Case, tree: Path) -> IndexedCode:
        if case.tree is not None:
            return IndexedCode.of_release(tree, self._distances)
        return IndexedCode.over(tree, self._embedder, trees_for(case, self._workspace.cache))

    def close(self, case: Case) -> None:
        """No trial of `case` is to come: what its index took is given back, unless another case searches the same."""
        tree = self._trees.pop(case.id, None)
        if tree is None or tree in self._trees.values():
            return
        self._indexed.pop(tree).index.forget()

    def save(self) -> None:
        """Add what had to be computed since the last time to the committed vectors, so that no other machine does."""
        if self._embedder.computed:
            self._embedder.cache.save(self._workspace.vectors)
            self._embedder.computed = 0
        if self._distances.new:
            self._distances.save()


_kept: Final[dict[tuple[Path, Path, int], IndexedCode]] = {}


def indexed(tree: Path, vectors: Path, trees: Path | None = None, distances: Path | None = None) -> IndexedCode:
    """The code below `tree`, a folder named by its content: indexed for the trial before, or now in its place. A
    released package has the committed `distances` in the place of vectors; `trees` is as in `Repository.over`.

    What is committed is read once, and again when it is written.
    """
    known = distances or vectors
    key = tree, known, _written(known)
    if key not in _kept:
        for last in _kept.values():
            last.index.forget()
        _kept.clear()
        if distances is None:
            _kept[key] = IndexedCode.over(tree, _embedder(*key[1:]), trees)
        else:
            _kept[key] = IndexedCode.of_release(tree, _distances(*key[1:]))
    return _kept[key]


@lru_cache(1)
def _embedder(vectors: Path, _written: int) -> MiniLM:
    return embedder_at(vectors)


@lru_cache(1)
def _distances(path: Path, _written: int) -> Distances:
    return Distances(path)


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


_SELDOM: Final = (50_000, 20, 50)
"""Objects until the youngest are looked at, and how often then the others are."""


def replay_case(task: CaseTask, cassette: Cassette) -> list[Trace]:
    """The traces of one case under the task's variants, in their order."""
    tree = materialise(task.case, task.datasets, task.cache)
    with runner() as loop:
        repository = indexed(tree, task.vectors, trees_for(task.case, task.cache), task.distances)
        traces = loop.run(_replay_all(task, cassette, repository))
    _settle()
    lines = fix_lines(task.case, task.datasets, task.cache, tree)
    known = {"fix_lines": lines} if lines else {}
    return [trace.model_copy(update={"facts": {**trace.facts, **known}}) for trace in traces]


@cache
def _settle() -> None:
    """Once everything is loaded: the collector need not walk through libraries again and again, nor look after every
    few hundred objects, which a trial makes by the ten thousand and mostly frees itself."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)


async def _replay_all(task: CaseTask, cassette: Cassette, repository: IndexedCode) -> list[Trace]:
    clients = replay_clients()
    try:
        return [
            await within_time(task, variant, CaseTarget.of(variant, clients, repository, prompt), cassette)
            for variant, prompt in prepared(task)
        ]
    finally:
        await clients.close()


async def within_time(task: CaseTask, variant: Variant, subject: CaseTarget, cassette: Cassette) -> Trace:
    """One trial, given up when its time is over. One that blocks this thread is ended from outside, with the worker."""
    tape = Tape(cassette, sample=task.sample, samples=task.samples)
    try:
        async with asyncio.timeout(task.timeout_s) as limit:
            return await run_trial(subject, task.case, tape)
    except TimeoutError:
        if not limit.expired():
            raise
        return failed(task, variant, task.overdue)


def prepared(task: CaseTask) -> Iterator[tuple[Variant, SupervisorPrompt | None]]:
    """The variants of a task, each with its prompt where that was handed over."""
    for variant, prompt in task.prepared:
        yield variant, prompt if isinstance(prompt, SupervisorPrompt) else None
