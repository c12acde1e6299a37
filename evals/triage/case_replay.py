"""Replay the trials of one case in this process."""

import asyncio
import gc
from collections.abc import Iterator
from functools import cache
from typing import Final

from evals.cassettes.interaction import Cassette
from evals.cassettes.player import Tape
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.runner.case_task import CaseTask, failed
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.fix_lines import fix_lines
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial, trees_for
from evals.triage.recorded_graph import indexed
from evals.triage.trial_clients import replay_clients, runner
from triage.prompts.load import SupervisorPrompt

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
