"""Production traces as candidates for cases: those of `triage run`, the sittings of one job taken together."""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langsmith.utils import LangSmithNotFoundError

from evals.errors import ConfigurationError
from evals.langsmith.reading import ReadRun, roots_of, trace_of
from evals.langsmith.service import Service

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
