"""The graph on one case, ready for any setting: the code is indexed once, however many trials follow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evals.cassette.store import Cassette
from evals.dataset.codebase import materialise
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.runner.replay import within_time
from evals.runner.task import CaseTask
from evals.subject.clients import replay_clients
from evals.subject.indexed import indexed
from evals.subject.loop import runner
from evals.subject.trial import Subject, trees_for


@contextmanager
def stage(task: CaseTask, cassette: Cassette) -> Iterator[Callable[[Variant], Trace]]:
    """A function that replays a variant on the case of `task`."""
    tree = materialise(task.case, task.datasets, task.cache)
    repository = indexed(tree, task.vectors, trees_for(task.case, task.cache), task.distances)
    clients, (prompt,) = replay_clients(), task.prompts or (None,)

    def trace_of(variant: Variant) -> Trace:
        return loop.run(within_time(task, variant, Subject.of(variant, clients, repository, prompt), cassette))

    with runner() as loop:
        try:
            yield trace_of
        finally:
            loop.run(clients.close())
