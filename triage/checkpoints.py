"""Checkpoints of jobs, and migrations of their state."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from triage import state as schema
from triage.errors import CheckpointError, InputError
from triage.job_model_requests import forget, make_room
from triage.private_files import make_private
from triage.state import CURRENT_SCHEMA_VERSION, BugTriageState

Plain = dict[str, Any]


def migrate(raw: Mapping[str, Any]) -> Plain:
    """The state `raw` (plain JSON-like data, any schema up to the current one) as the current schema has it.

    Raises:
        CheckpointError: it was written by a newer triage, or names no schema that ever was.
    """
    state = dict(raw)
    version = state.get("schema_version", 1)
    if isinstance(version, int) and version > CURRENT_SCHEMA_VERSION:
        raise CheckpointError(
            f"the job was stored with schema {version} and this triage reads up to {CURRENT_SCHEMA_VERSION}: "
            "upgrade triage, or start the job anew"
        )
    while version != CURRENT_SCHEMA_VERSION:
        if version not in MIGRATIONS:
            raise CheckpointError(f"the job was stored with schema {version!r}, which never was: start the job anew")
        state = MIGRATIONS[version](state)
        version = state["schema_version"]
    return state


def _from_1(state: Plain) -> Plain:
    """Visits are read off the findings and answers (their mutual order is lost, failed visits are unknown)."""
    kept = {name: value for name, value in state.items() if name != "current_node"}
    findings, answers = kept.get("findings", []), kept.get("human_exchanges", [])
    visits = [finding["agent_name"] for finding in findings] + ["human_input"] * len(answers)
    kept |= {
        "schema_version": 2,
        "visits": visits,
        "iterations": max(kept.get("iterations", 0), len(visits)),
        "routed_node": kept.get("next_node"),
    }
    if kept.get("critic_feedback"):
        kept["critic_feedback"] = kept["critic_feedback"] | {"evidence_seen": _seen_by_critic(findings, answers)}
    return kept


def _seen_by_critic(findings: list[Plain], answers: list[Plain]) -> int:
    """Findings up to the critic's last one; answers count as seen, so that an old rejection is not lifted by guess."""
    reviews = [n for n, finding in enumerate(findings, 1) if finding["agent_name"] == "critic"]
    return (reviews[-1] if reviews else len(findings)) + len(answers)


MIGRATIONS: Final[dict[int, Callable[[Plain], Plain]]] = {
    1: _from_1,
    # What these schemas added has a default: nothing of it was kept before.
    **{n: partial(dict, schema_version=n + 1) for n in range(2, CURRENT_SCHEMA_VERSION)},
}


_TABLE: Final = """create table if not exists triage_posts (
    thread_id text not null, what text not null, url text not null, primary key (thread_id, what))"""


def kept_posts(jobs: Path, name: str) -> dict[str, str]:
    """Address of each post of the job `name`, by what it is and where (`comment on owner/name#7`)."""
    with closing(sqlite3.connect(jobs)) as connection:
        connection.execute(_TABLE)
        rows = connection.execute("select what, url from triage_posts where thread_id = ?", [name])
        return {str(what): str(url) for what, url in rows}


def keep_post(jobs: Path, name: str, what: str, url: str) -> None:
    """Remember one post of the job."""
    with closing(sqlite3.connect(jobs)) as connection, connection:
        connection.execute(_TABLE)
        connection.execute("insert or replace into triage_posts values (?, ?, ?)", [name, what, url])


async def forget_posts(jobs: aiosqlite.Connection, name: str) -> None:
    """Drop what is remembered of the job's posts."""
    await jobs.execute(_TABLE)
    await jobs.execute("delete from triage_posts where thread_id = ?", [name])
    await jobs.commit()


STORED_TYPES: Final = tuple(
    (schema.__name__, name)
    for name, value in vars(schema).items()
    if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == schema.__name__
)


def serializer() -> JsonPlusSerializer:
    """A serialiser that rebuilds the state's own types and refuses every other; use it with any saver."""
    return JsonPlusSerializer(allowed_msgpack_modules=STORED_TYPES)


class JobSaver(AsyncSqliteSaver):
    """Checkpoints in one SQLite file; a state of an older schema is migrated as it is read."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The stored checkpoint, its state in the current schema.

        Raises:
            CheckpointError: the state was written by a newer triage, or fits no schema.
        """
        found = await super().aget_tuple(config)
        if found is not None:
            found.checkpoint["channel_values"] = _current(found.checkpoint["channel_values"])
        return found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name for it
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The stored checkpoints, the newest first, their states in the current schema; see `aget_tuple`."""
        async for found in super().alist(config, filter=filter, before=before, limit=limit):
            found.checkpoint["channel_values"] = _current(found.checkpoint["channel_values"])
            yield found

    async def aget_metadata(self, thread_id: str) -> Mapping[str, Any]:
        """What the job runs with, as it is kept beside its last step, whether or not its state can be read."""
        found = await super().aget_tuple({"configurable": {"thread_id": thread_id}})
        return {} if found is None else found.metadata

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the job with all that is kept of it."""
        await super().adelete_thread(thread_id)
        await forget(self.conn, thread_id)
        await forget_posts(self.conn, thread_id)
        await self.conn.execute("pragma wal_checkpoint(truncate)")  # nor does it stay in the log of changes


@asynccontextmanager
async def open_jobs(path: Path) -> AsyncIterator[JobSaver]:
    """The jobs stored in the SQLite file at `path`; the file is made if need be, its folder has to exist.

    Raises:
        InputError: no SQLite file can be opened there.
    """
    make_private(path)
    try:
        with closing(sqlite3.connect(path)) as probe:  # aiosqlite would fail in a thread of its own
            probe.execute("pragma quick_check(1)")  # connecting alone reads nothing
    except sqlite3.Error as error:
        raise InputError(f"{path}: jobs cannot be kept there ({error}); name another file with --jobs") from error
    async with aiosqlite.connect(path) as connection:
        await connection.execute("pragma secure_delete = on")  # what is deleted is overwritten
        await make_room(connection)
        yield JobSaver(connection, serde=serializer())


def is_kept(path: Path, job_id: str) -> bool:
    """Whether anything of the job is stored; a job that was stopped before its first step is not."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path)) as jobs:
            return (
                jobs.execute("select 1 from checkpoints where thread_id = ? limit 1", [job_id]).fetchone() is not None
            )
    except sqlite3.Error:
        return False


def state_in(values: Mapping[str, Any]) -> BugTriageState:
    """The job's state among channel values of the current schema."""
    return BugTriageState.model_validate(
        {field: value for field, value in values.items() if field in BugTriageState.model_fields}
    )


def _current(values: dict[str, Any]) -> dict[str, Any]:
    """Channel values in the current schema; LangGraph's own channels pass through as they are."""
    if "issue_title" not in values or values.get("schema_version") == CURRENT_SCHEMA_VERSION:
        return values
    own = {name for name in values if name.startswith(("branch:", "__"))}
    plain = to_jsonable_python({name: value for name, value in values.items() if name not in own})
    try:
        state = BugTriageState.model_validate(migrate(plain))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CheckpointError(f"the stored job does not fit its schema at {where}: start the job anew") from error
    return {name: values[name] for name in own} | {name: getattr(state, name) for name in state.model_fields_set}
