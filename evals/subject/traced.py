"""A live job, read off its traces: what `triage run` was asked, the way it went, and what it asked a person."""

import evals.subject.offline  # noqa: F401 - before LangGraph and LangSmith

# isort: split
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evals.errors import ConfigurationError
from evals.models.live_job import Asked, LiveJob
from evals.subject.harvest import LEFT_OUT
from evals.subject.job import code_at, discussion_remarks
from triage.checkout import CHANGED
from triage.discussion import discussion_block
from triage.options import Options
from triage.plans import MODES
from triage.state import WORKERS, BugTriageState


@dataclass(frozen=True)
class TracedStep:
    """One node of the graph as it was traced, with the state it was given and what it gave."""

    name: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


@dataclass(frozen=True)
class TracedJob:
    """All sittings of one job: `begun` with this state, `steps` in order, and the state at the end of the last one."""

    name: str
    metadata: Mapping[str, Any]
    begun: Mapping[str, Any]
    steps: Sequence[TracedStep]
    ended: Mapping[str, Any]


def job_of_trace(traced: TracedJob, repo: Path | None) -> LiveJob:
    """The job as a case can be made of it; its code is that of `repo`, or of the checkout it ran over.

    Raises:
        ConfigurationError: the trace is of no `triage run`, or its code is not here.
    """
    state, options = _state(traced.begun), Options.from_metadata(traced.metadata)
    if state is None or "triage_supervisor" not in traced.metadata:
        raise ConfigurationError(f"trace {traced.name}: not one of `triage run`, of this version")
    where = repo or (Path(options.repo) if options.repo else None)
    if where is None or not where.is_dir():
        raise ConfigurationError(
            f"trace {traced.name}: the code it was about is not here; give its checkout with --repo"
        )
    revision = options.revision or ""
    return LiveJob(
        name=traced.name,
        title=state.issue_title,
        body=state.issue_body + discussion_block(state.issue_discussion),
        url=state.issue_url,
        repository=state.repository,
        revision=revision.removesuffix(CHANGED),
        route=tuple(step.name for step in traced.steps if step.name in WORKERS),
        asked=tuple(_asked(traced.ended)),
        states=tuple(_states(traced.steps)),
        served=(),
        supervisor=str(options.supervisor),
        prompt=options.prompt,
        plan=options.plan,
        guards=options.guards or "hardened",
        max_iterations=state.max_iterations,
        code=code_at(where, revision),
        remarks=(*_remarks(traced, options), *discussion_remarks(state)),
    )


def _state(told: Mapping[str, Any]) -> BugTriageState | None:
    try:
        return BugTriageState.model_validate(told)
    except ValidationError:
        return None


def _states(steps: Sequence[TracedStep]) -> Iterator[dict[str, Any]]:
    """What the supervisor was asked in, as `harvest` gives it."""
    for step in steps:
        if step.name == "supervisor" and (state := _state(step.inputs)) is not None:
            yield state.model_dump(mode="json", exclude=set(LEFT_OUT), exclude_defaults=True)


def _asked(ended: Mapping[str, Any]) -> Iterator[Asked]:
    for told in ended.get("human_exchanges") or ():
        if told.get("answer") is not None:
            yield Asked(question=told["question"], context=told.get("context") or "", answer=told["answer"])


def _remarks(traced: TracedJob, options: Options) -> Iterator[str]:
    if not traced.ended.get("report"):
        yield "the job has not come to its end: its route ends where its trace does"
    if options.supervisor in MODES:
        yield "reviews a plan's machine makes are visits in a trace: take those out of the route"
    if not options.revision or options.revision.endswith(CHANGED):
        yield "the code is taken as it stands now: no commit says what it was when the job was begun"
