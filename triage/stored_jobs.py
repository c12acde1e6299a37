"""Stored jobs: list, read, lock and delete them."""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from langgraph.checkpoint.base import CheckpointTuple

from evals.shared.display_text import one_line
from triage.checkpoints import JobSaver, open_jobs, state_in
from triage.errors import CheckpointError, ConfigurationError, InputError
from triage.job_report import grave_caveats, missing_texts
from triage.private_files import make_private
from triage.run_options import RunOptions
from triage.settings import DEFAULT_JOBS, JOB_FILES
from triage.state import BugTriageState, ConfidenceFloor, HumanExchange


@contextmanager
def held(jobs: Path, name: str) -> Iterator[None]:
    """Hold the job `name` of the file `jobs` until the block ends; the lock's file goes with it.

    Raises:
        InputError: somebody else holds it, or no file can be made there.
    """
    path = jobs.with_name(f"{jobs.name}.{name}.lock")
    try:
        make_private(path)
        file = path.open("w")
    except OSError as error:
        raise InputError(f"{jobs}: jobs cannot be kept there ({error.strerror}); name another with --jobs") from error
    with file:
        if not _locked(file, path):
            raise InputError(f"job {name!r} is running already: wait for it, or stop it")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(file: TextIO, path: Path) -> bool:
    """Whether the lock is ours; not on a file that its holder removed between our opening and our locking it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file.fileno()).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


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
    options: RunOptions
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
        return _delete_files(Path(RunOptions.from_metadata(kept).out or DEFAULT_JOBS.parent / name), name)


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
        options=RunOptions.from_metadata(kept.metadata),
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


Changes = Mapping[str, Any]


@dataclass(frozen=True)
class JobStep:
    """One superstep that has come to its end: the state it began in, what each node changed (tasks of a plan in order
    of their ids), and what the job ran with."""

    before: BugTriageState
    changes: tuple[Changes, ...]
    options: RunOptions


async def history(jobs: JobSaver, name: str) -> list[JobStep]:
    """The steps of the job `name` in which somebody decided or worked, the first one first.

    Raises:
        CheckpointError: a state was written by a newer triage, or fits no schema.
    """
    kept = [checkpoint async for checkpoint in jobs.alist({"configurable": {"thread_id": name}})]
    steps = []
    for checkpoint in reversed(kept):
        values = checkpoint.checkpoint["channel_values"]
        changes = _changes(checkpoint.pending_writes or ())
        if changes and "issue_title" in values:
            steps.append(JobStep(state_in(values), changes, RunOptions.from_metadata(checkpoint.metadata)))
    return steps


def _changes(writes: Any) -> tuple[Changes, ...]:  # noqa: ANN401 - LangGraph's triples of task, channel and value
    """What each task wrote, but for those that only wait."""
    by_task: dict[str, dict[str, Any]] = {}
    for task, channel, value in writes:
        by_task.setdefault(task, {})[channel] = value
    return tuple(sorted((wrote for wrote in by_task.values() if decided(wrote) or "visits" in wrote), key=_task_id))


def decided(changes: Changes) -> bool:
    """Whether this is what the supervisor changed, and no worker."""
    return "routed_node" in changes and "visits" not in changes


def _task_id(changes: Changes) -> int:
    tasks = changes.get("plan") or ()
    return 0 if decided(changes) or not tasks else int(tasks[0].task_id)
