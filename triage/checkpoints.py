"""Where a job's state is kept between two steps, and how an old one is read.

Only the types of `triage.state` are ever rebuilt from a file: the same allow-list LANGGRAPH_STRICT_MSGPACK would derive
from the schema, given here explicitly so that it does not depend on who imported langgraph first. LangGraph's own
server stores its threads here as well (`triage.studio`).
"""

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
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
from triage.kept_calls import forget_calls, make_room_for_calls
from triage.kept_posts import forget_posts
from triage.migrations import migrate
from triage.private_files import make_private
from triage.state import CURRENT_SCHEMA_VERSION, BugTriageState
from triage.traffic import forget_traffic, make_room_for_traffic

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
        await forget_calls(self.conn, thread_id)
        await forget_traffic(self.conn, thread_id)
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
        await make_room_for_calls(connection)
        await make_room_for_traffic(connection)
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
