"""What is read back: the runs of queues and projects, by the endpoints that stay (`runs.query`, `items.list`)."""

import datetime as dt
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evals.langsmith.service import Service

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
