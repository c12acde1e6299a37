"""The stored jobs, read without a graph or an endpoint: where each stands, and how to be rid of it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple

from triage.caveats import grave_caveats
from triage.checkpoints import JobSaver, open_jobs, state_in
from triage.errors import CheckpointError, ConfigurationError, InputError
from triage.locks import held
from triage.options import Options
from triage.places import DEFAULT_JOBS, JOB_FILES
from triage.results import missing_texts
from triage.state import BugTriageState, ConfidenceFloor, HumanExchange
from triage.visible_text import one_line

_BRANCH: Final = "branch:to:"
"""How LangGraph's channels that start a node are called."""
_TASKS: Final = "__pregel_tasks"
_NEWEST: Final = (
    "select thread_id from checkpoints where checkpoint_ns = '' group by 1 order by max(checkpoint_id) desc"
)


@dataclass(frozen=True)
class StoredJob:
    """One job as it was left; `coming` are the nodes that would run next, `waiting` the question it stopped at."""

    name: str
    when: str
    """Date and time of its last step, UTC."""
    options: Options
    state: BugTriageState
    waiting: HumanExchange | None
    coming: tuple[str, ...]

    @property
    def standing(self) -> str:
        """Where it stands, in a few words."""
        if self.waiting is not None:
            return f"waits for an answer: {' '.join(self.waiting.question.split())}"
        if self.coming:
            return f"stopped before {', '.join(self.coming)}"
        missing = missing_texts(self.state)
        if missing:
            return f"over without {' and '.join(missing)}"
        return "report written" + (", on too little" if grave_caveats(self.state, self.floor) else "")

    @property
    def floor(self) -> ConfidenceFloor:
        """How sure a report has to be; the defaults where the job's file of thresholds is gone."""
        try:
            return self.options.floor()
        except ConfigurationError:
            return ConfidenceFloor()


@dataclass(frozen=True)
class Unreadable:
    """A job this triage cannot read, and why."""

    name: str
    why: str


def _there(path: Path) -> bool:
    return path.is_file()


async def every_job(path: Path) -> list[StoredJob | Unreadable]:
    """The jobs of the file, the newest first; none where there is no file.

    Raises:
        InputError: it is no file of jobs.
    """
    if not _there(path):
        return []
    async with open_jobs(path) as jobs:
        return [await read_job(jobs, name) for name in _names(path)]


async def one_job(path: Path, name: str) -> StoredJob:
    """The job of this name.

    Raises:
        InputError: there is none. CheckpointError: it cannot be read.
    """
    found = next((job for job in await every_job(path) if job.name == name), None)
    if found is None:
        raise InputError(f"{path}: no job is called {name!r}; `triage jobs` lists them")
    if isinstance(found, Unreadable):
        raise CheckpointError(found.why)
    return found


async def begun(path: Path, name: str) -> tuple[str, str]:
    """What the first step of the job is called, like no other job's, and when it was (ISO, UTC).

    Raises:
        InputError: there is no such job.
    """
    await one_job(path, name)
    async with open_jobs(path) as jobs:
        kept = [checkpoint async for checkpoint in jobs.alist({"configurable": {"thread_id": name}})]
    return str(kept[-1].checkpoint["id"]), str(kept[-1].checkpoint["ts"])


async def delete_job(path: Path, name: str) -> list[Path]:
    """Delete the job with the files it has written; returns those that stay, because another job wrote them last.

    Raises:
        InputError: there is no such job, or somebody is at it.
    """
    if not _there(path) or name not in _names(path):
        raise InputError(f"{path}: no job is called {name!r}; `triage jobs` lists them")
    with held(path, name):
        async with open_jobs(path) as jobs:
            kept = await jobs.aget_metadata(name)
            await jobs.adelete_thread(name)
        return _delete_files(Path(Options.from_metadata(kept).out or DEFAULT_JOBS.parent / name), name)


def _delete_files(folder: Path, name: str) -> list[Path]:
    """Delete what the job wrote to its folder, and the folder where nothing else is in it."""
    written = [folder / each for each in JOB_FILES if (folder / each).is_file()]
    if _writer(folder) not in (None, name):
        return written
    for each in written:
        each.unlink()
    with suppress(OSError):  # it is not there, or holds files of others
        folder.rmdir()
    return []


def _writer(folder: Path) -> str | None:
    """The job that wrote the files in the folder last, as far as they say."""
    for file, member in (("trace.json", "job"), ("report.json", "job_id")):
        with suppress(OSError, ValueError, LookupError, TypeError):
            return str(json.loads((folder / file).read_bytes())[member])
    return None


def line(job: StoredJob | Unreadable) -> str:
    """One job in one line."""
    if isinstance(job, Unreadable):
        return f"{one_line(job.name)}  cannot be read: {one_line(job.why)}"
    told = (job.name, job.when, str(job.options.supervisor), job.standing, f"({job.state.issue_title})")
    return "  ".join(map(one_line, told))


def page(job: StoredJob) -> str:
    """One job at length."""
    state = job.state
    lines = [
        f"{job.name}: {state.issue_title}",
        f"  {job.standing}",
        f"  begun with {job.options.told()}",
        f"  {state.iterations} of {state.max_iterations} visits: {', '.join(state.visits) or 'none yet'}",
        *(f"  {found.agent_name} ({found.confidence:.0%}): {found.summary}" for found in state.findings),
        *(f"  {failure.agent_name} failed: {failure.error}" for failure in state.agent_errors),
        *(f"  asked: {asked.question} - {asked.answer}" for asked in state.human_exchanges),
        *(f"  ordered: {order}" for order in state.redirect_instructions),
    ]
    return "\n".join(" " * 2 * each.startswith("  ") + one_line(each) for each in lines)


async def read_job(jobs: JobSaver, name: str) -> StoredJob | Unreadable:
    """The job of this name, or why it cannot be read."""
    try:
        kept = await jobs.aget_tuple({"configurable": {"thread_id": name}})
        return _job(name, kept) if kept else Unreadable(name, "nothing is stored of it")
    except CheckpointError as error:
        return Unreadable(name, str(error))


def _job(name: str, kept: CheckpointTuple) -> StoredJob | Unreadable:
    values = kept.checkpoint["channel_values"]
    if "issue_title" not in values:
        return Unreadable(name, "it was stopped before its first step")
    asked = [value for _, channel, value in kept.pending_writes or () if channel == "__interrupt__"]
    return StoredJob(
        name=name,
        when=kept.checkpoint["ts"][:16].replace("T", " "),
        options=Options.from_metadata(kept.metadata),
        state=state_in(values),
        waiting=asked[0][0].value if asked else None,
        coming=tuple(_coming(values)),
    )


def _coming(values: dict[str, Any]) -> Iterator[str]:
    yield from (channel.removeprefix(_BRANCH) for channel in values if channel.startswith(_BRANCH))
    yield from (send.node for send in values.get(_TASKS, ()))


def _names(path: Path) -> list[str]:
    try:
        with closing(sqlite3.connect(path)) as jobs:
            return [name for (name,) in jobs.execute(_NEWEST)]
    except sqlite3.OperationalError:  # no such table: no job was ever stored
        return []
