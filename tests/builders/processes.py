"""Processes that others have begun, as Linux tells of them."""

from pathlib import Path

SERVER = "multiprocessing.forkserver"
"""Stands in the command of the process that workers are forked off."""


def children_of(pid: int) -> list[int]:
    """The processes it has begun; none of one that is gone."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def servers_of(pid: int) -> list[int]:
    """Those of them that workers are forked off."""
    return [child for child in children_of(pid) if SERVER in command_of(child)]


def workers_of(pid: int) -> list[int]:
    """The worker processes of a run."""
    return [worker for server in servers_of(pid) for worker in children_of(server)]


def reads_a_pipe(pid: int) -> bool:
    """Whether it waits for somebody to write into a pipe."""
    try:
        return "pipe_read" in Path(f"/proc/{pid}/wchan").read_text(encoding="ascii")
    except OSError:
        return False


def command_of(pid: int) -> str:
    """Its command line; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""
