"""What a job asked of the endpoint, kept in the file of jobs over all its sittings: calls, and requests unanswered."""

from typing import Final

import aiosqlite

from triage.calls import Call, Refusal

_TABLES: Final = (
    """create table if not exists triage_calls (
    thread_id text not null, agent text not null, model text not null,
    tokens_in integer not null, tokens_out integer not null, seconds real not null)""",
    """create table if not exists triage_refusals (
    thread_id text not null, agent text not null, model text not null, why text not null,
    tokens_in integer not null, tokens_out integer not null)""",
)


async def make_room_for_calls(jobs: aiosqlite.Connection) -> None:
    """Make the tables, if they are not there yet."""
    for table in _TABLES:
        await jobs.execute(table)
    await jobs.commit()


async def keep_call(jobs: aiosqlite.Connection, name: str, asked: Call | Refusal) -> None:
    """Enter one request of the job `name`, answered or not."""
    if isinstance(asked, Call):
        call = (name, asked.agent, asked.model, asked.tokens_in, asked.tokens_out, asked.seconds)
        await jobs.execute("insert into triage_calls values (?, ?, ?, ?, ?, ?)", call)
    else:
        refusal = (name, asked.agent, asked.model, asked.why, asked.tokens_in, asked.tokens_out)
        await jobs.execute("insert into triage_refusals values (?, ?, ?, ?, ?, ?)", refusal)
    await jobs.commit()


async def kept_calls(jobs: aiosqlite.Connection, name: str) -> list[Call]:
    """All calls of the job `name` that were answered, in order; none for a job from before they were kept."""
    rows = await jobs.execute_fetchall(
        "select agent, model, tokens_in, tokens_out, seconds from triage_calls where thread_id = ? order by rowid",
        [name],
    )
    return [Call(*row) for row in rows]


async def kept_refusals(jobs: aiosqlite.Connection, name: str) -> list[Refusal]:
    """All requests of the job `name` that were refused or lost, in order."""
    rows = await jobs.execute_fetchall(
        "select agent, model, why, tokens_in, tokens_out from triage_refusals where thread_id = ? order by rowid",
        [name],
    )
    return [Refusal(*row) for row in rows]


async def forget_calls(jobs: aiosqlite.Connection, name: str) -> None:
    """Drop the requests of the job `name`."""
    for table in ("triage_calls", "triage_refusals"):
        await jobs.execute(f"delete from {table} where thread_id = ?", [name])  # noqa: S608 - one of two names
    await jobs.commit()
