"""What suites ask for, by the folder whose cassettes have it: of the agents, and of a judge."""

from collections.abc import Sequence
from pathlib import Path

from evals.models.trace import Trace
from evals.pipeline.judged import judge_asked_for
from evals.pipeline.select import Selected
from evals.recording.standing import asked_for
from evals.workspace import Workspace


def asked_in(
    found: Sequence[tuple[Selected, Sequence[Trace]]], workspace: Workspace
) -> dict[Path, dict[str, set[str]]]:
    """The keys of all that replayed suites ask, by folder of cassettes, then by case.

    Of a judge's check only where the trials it plants in are exact.
    """
    judge: dict[str, set[str]] = {}
    for chosen, traces in found:
        if chosen.suite.judge is not None:
            for case, keys in judge_asked_for(chosen, traces).items():
                judge.setdefault(case, set()).update(keys)
    return {
        workspace.cassettes: asked_for(trace for _, traces in found for trace in traces),
        workspace.judge_cassettes: judge,
    }
