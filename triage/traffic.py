"""What a job asked and was answered, word for word, kept in the file of jobs where `--record` asks for it.

Bodies only: no header is kept, and with it no key. What is said in them is kept as it was, the issue and the code the
agents read included; whoever makes a case of it looks for secrets first (`evals dataset new --from-job`).
"""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any, Final

import aiosqlite
import httpx
import httpx2

_TABLE: Final = """create table if not exists triage_traffic (
    thread_id text not null, at text not null, agent text not null, path text not null,
    request text not null, response text not null, seconds real not null)"""


@dataclass(frozen=True)
class Served:
    """One answered request: when (ISO, UTC), by whom it was made, the path that was asked, both bodies as JSON, and
    seconds until the answer was there."""

    at: str
    agent: str
    path: str
    request: str
    response: str
    seconds: float


@dataclass(frozen=True)
class Traffic:
    """Keeps the answers of one job; `enter` is a hook for clients of either library."""

    jobs: aiosqlite.Connection
    name: str

    async def enter(self, response: httpx.Response | httpx2.Response) -> None:
        """Keep the answer, if it is one and both bodies are JSON objects."""
        if not response.is_success:
            return
        request, answer = _object(response.request.content), _object(await response.aread())
        if request is None or answer is None:
            return
        agent = response.request.headers.get("x-triage-agent") or "web_search"
        path, seconds = response.request.url.raw_path.decode("ascii"), response.elapsed.total_seconds()
        row = (self.name, dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), agent, path, request, answer, seconds)
        await self.jobs.execute("insert into triage_traffic values (?, ?, ?, ?, ?, ?, ?)", row)
        await self.jobs.commit()


async def make_room_for_traffic(jobs: aiosqlite.Connection) -> None:
    """Make the table, if it is not there yet."""
    await jobs.execute(_TABLE)
    await jobs.commit()


async def kept_traffic(jobs: aiosqlite.Connection, name: str) -> list[Served]:
    """What was kept of the job `name`, in order."""
    rows = await jobs.execute_fetchall(
        "select at, agent, path, request, response, seconds from triage_traffic where thread_id = ? order by rowid",
        [name],
    )
    return [Served(*row) for row in rows]


async def forget_traffic(jobs: aiosqlite.Connection, name: str) -> None:
    """Drop what was kept of the job `name`."""
    await jobs.execute("delete from triage_traffic where thread_id = ?", [name])
    await jobs.commit()


def _object(body: bytes) -> str | None:
    """The body as text, without a key that some services take as a member of it; None for what is no JSON object."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return json.dumps({name: member for name, member in value.items() if name != "api_key"}, ensure_ascii=False)
