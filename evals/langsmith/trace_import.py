"""Traces of live jobs read from LangSmith as candidate cases."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langsmith.utils import LangSmithNotFoundError

from evals.errors import ConfigurationError
from evals.langsmith.langsmith_client import Service

SECTIONS: Final = ("needs_my_review", "needs_others_review", "archived")
EPOCH: Final = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
"""Before anything was traced by us; a query without a beginning is about the last day."""
_PAGE: Final = 100
_SELECTS: Final = ("ID", "NAME", "START_TIME", "METADATA", "TRACE_ID", "DOTTED_ORDER", "REFERENCE_EXAMPLE_ID", "ERROR")
_WITH_TEXTS: Final = (*_SELECTS, "INPUTS", "OUTPUTS")


@dataclass(frozen=True)
class ReadRun:
    """A run as it is read back."""

    id: str
    name: str
    start: str
    metadata: dict[str, Any]
    trace: str
    order: str
    example: str
    error: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]

    @property
    def depth(self) -> int:
        """0 for the root of a trace."""
        return self.order.count(".")


@dataclass(frozen=True)
class QueuedRun:
    """A run of a queue, and its project."""

    run: str
    project: str


async def queued(service: Service, queue: str) -> list[QueuedRun]:
    """The runs of an annotation queue, whoever has reviewed them."""
    found: dict[str, QueuedRun] = {}
    items = service.client.annotation_queues.items
    for section in SECTIONS:
        async for item in items.list(queue, status=section, item_type="RUN", page_size=_PAGE):
            if item.run_id and item.project_id:
                found[item.run_id] = QueuedRun(item.run_id, item.project_id)
    return [*found.values()]


async def runs_by_id(service: Service, project: str, ids: Sequence[str]) -> list[ReadRun]:
    """Those runs of a project, without their texts."""
    found: list[ReadRun] = []
    for at in range(0, len(ids), _PAGE):
        found += [run async for run in _query(service, project, _SELECTS, ids=list(ids[at : at + _PAGE]))]
    return found


async def roots_of(service: Service, project: str, since: dt.datetime) -> list[ReadRun]:
    """The roots of a project's traces, the first one first."""
    found = [run async for run in _query(service, project, _WITH_TEXTS, is_root=True, min_start_time=since)]
    return sorted(found, key=lambda run: run.order)


async def trace_of(service: Service, project: str, trace: str) -> list[ReadRun]:
    """A root and all below it, in order."""
    found = [run async for run in _query(service, project, _WITH_TEXTS, trace_id=trace)]
    return sorted(found, key=lambda run: run.order)


async def _query(service: Service, project: str, selects: Sequence[str], **which: Any) -> AsyncIterator[ReadRun]:  # noqa: ANN401 - fields of the query
    asked: dict[str, Any] = {"min_start_time": EPOCH, "page_size": _PAGE, "selects": list(selects), **which}
    async for run in service.client.runs.query(project_ids=[project], **asked):
        yield _read(run)


def _read(run: Any) -> ReadRun:  # noqa: ANN401 - the SDK's generated class is not exported
    return ReadRun(
        id=str(run.id),
        name=run.name or "",
        start=run.start_time.isoformat(timespec="seconds") if run.start_time else "",
        metadata=dict(run.metadata or {}),
        trace=str(run.trace_id or run.id),
        order=run.dotted_order or "",
        example=str(run.reference_example_id or ""),
        error=run.error or "",
        inputs=dict(run.inputs or {}),
        outputs=dict(run.outputs or {}),
    )


_OURS: Final = "triage_supervisor"
"""What the metadata of every trace of `triage run` has."""


@dataclass(frozen=True)
class Candidate:
    """A traced job: its first trace, its name, when it began (ISO), its issue's title, and how it ended."""

    trace: str
    job: str
    start: str
    title: str
    ended: str
    roots: tuple[ReadRun, ...]


def candidates(service: Service, project: str, since: dt.datetime) -> list[Candidate]:
    """The jobs that were traced to a project since then, the first one first; trials of datasets are none.

    Raises:
        ConfigurationError: there is no such project. ServiceError: it cannot be read.
    """
    with service.doing(f"reading project {project}"):
        roots = asyncio.run(roots_of(service, _project(service, project), since))
    jobs: dict[str, list[ReadRun]] = {}
    for root in roots:
        if _OURS in root.metadata and not root.example:
            jobs.setdefault(str(root.metadata.get("thread_id") or root.id), []).append(root)
    return [_candidate(name, sittings) for name, sittings in jobs.items()]


def steps_of(service: Service, project: str, candidate: Candidate) -> list[ReadRun]:
    """The nodes of the graph a job went through, over all its sittings, in order. One that was broken off, as by a
    question that waited, is traced as an error, and again when it has come to its end."""
    found: list[ReadRun] = []
    with service.doing(f"reading trace {candidate.trace}"):
        one = _project(service, project)
        for root in candidate.roots:
            found += [run for run in asyncio.run(_trace(service, one, root.trace)) if run.depth == 1 and not run.error]
    return found


def state_in(told: Mapping[str, Any]) -> dict[str, Any]:
    """A state as it is traced: LangGraph puts one that is no dictionary below `input` or `output`."""
    inner = next((told[name] for name in ("input", "output") if isinstance(told.get(name), dict)), None)
    return dict(inner if inner is not None else told)


async def _trace(service: Service, project: str, trace: str) -> Sequence[ReadRun]:
    return await trace_of(service, project, trace)


def _project(service: Service, name: str) -> str:
    try:
        return str(service.client.read_project(project_name=name).id)
    except LangSmithNotFoundError as error:
        raise ConfigurationError(f"{service.url} has no project {name!r}; --project takes its whole name") from error


def _candidate(name: str, sittings: Sequence[ReadRun]) -> Candidate:
    first, last = sittings[0], sittings[-1]
    done = "failed" if last.error else "wrote a report" if state_in(last.outputs).get("report") else "unfinished"
    title = str(state_in(first.inputs).get("issue_title", ""))
    return Candidate(first.trace, name, first.start, title, done, tuple(sittings))
