"""Replays the trials of one case in this process: no socket, no key, no clock."""

import asyncio

from evals.cassette.player import Tape
from evals.cassette.store import Cassette
from evals.dataset.codebase import materialise
from evals.models.trace import Trace
from evals.runner.task import CaseTask
from evals.subject.clients import replay_clients
from evals.subject.trial import Repository, Subject, run_trial


def replay_case(task: CaseTask, cassette: Cassette) -> list[Trace]:
    """The traces of one case under the task's variants, in their order."""
    tree = materialise(task.case, task.datasets, task.cache)
    return asyncio.run(_replay_all(task, cassette, Repository.at(tree, task.vectors)))


async def _replay_all(task: CaseTask, cassette: Cassette, repository: Repository) -> list[Trace]:
    clients = replay_clients()
    try:
        return [
            await run_trial(
                Subject.of(variant, clients, repository),
                task.case,
                Tape(cassette, sample=task.sample, samples=task.samples),
            )
            for variant in task.variants
        ]
    finally:
        await clients.close()
