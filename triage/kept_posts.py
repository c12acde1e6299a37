"""Addresses of what was posted of a job, kept in the file of jobs."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import aiosqlite

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
