"""The graph on one case, ready for any setting of a sweep."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evals.cassettes.interaction import Cassette
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.runner.trial_task import CaseTask
from evals.triage.case_replay import prepared, within_time
from evals.triage.dataset.case_code import materialise
from evals.triage.graph_trial import CaseTarget, trees_for
from evals.triage.recorded_graph import indexed
from evals.triage.replay_path import runner
from evals.triage.trial_clients import replay_clients


@contextmanager
def stage(task: CaseTask, cassette: Cassette) -> Iterator[Callable[[Variant], Trace]]:
    """A function that replays a variant on the case of `task`."""
    tree = materialise(task.case, task.datasets, task.cache)
    repository = indexed(tree, task.vectors, trees_for(task.case, task.cache), task.distances)
    clients = replay_clients()
    prompt = next(
        (prompt for _, prompt in prepared(task)), None
    )  # each variant reads its own where none is handed over

    def trace_of(variant: Variant) -> Trace:
        return loop.run(within_time(task, variant, CaseTarget.of(variant, clients, repository, prompt), cassette))

    with runner() as loop:
        try:
            yield trace_of
        finally:
            loop.run(clients.close())
