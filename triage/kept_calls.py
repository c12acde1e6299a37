"""What a job asked of the endpoint, kept in the file of jobs over all its sittings."""

from typing import Final

import aiosqlite

from triage.account import Call

_TABLE: Final = """create table if not exists triage_calls (
    thread_id text not null, agent text not null, model text not null,
    tokens_in integer not null, tokens_out integer not null, seconds real not null)"""


async def make_room_for_calls(jobs: aiosqlite.Connection) -> None:
    """Make the table, if it is not there yet."""
    await jobs.execute(_TABLE)
    await jobs.commit()


async def keep_call(jobs: aiosqlite.Connection, name: str, call: Call) -> None:
    """Enter one answered call of the job `name`."""
    row = (name, call.agent, call.model, call.tokens_in, call.tokens_out, call.seconds)
    await jobs.execute("insert into triage_calls values (?, ?, ?, ?, ?, ?)", row)
    await jobs.commit()


async def kept_calls(jobs: aiosqlite.Connection, name: str) -> list[Call]:
    """All calls of the job `name` that were answered, in order; none for a job from before they were kept."""
    rows = await jobs.execute_fetchall(
        "select agent, model, tokens_in, tokens_out, seconds from triage_calls where thread_id = ? order by rowid",
        [name],
    )
    return [Call(*row) for row in rows]


async def forget_calls(jobs: aiosqlite.Connection, name: str) -> None:
    """Drop the calls of the job `name`."""
    await jobs.execute("delete from triage_calls where thread_id = ?", [name])
    await jobs.commit()
