"""Disks that are full and folders nobody may write to, real ones: they take root, and say so where there is none."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def a_small_disk(folder: Path, size: str) -> Iterator[Path]:
    """`folder`, with a file system of `size` of its own until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    if mounted is None:
        pytest.skip("a small disk has to be mounted, which takes root")
    try:
        yield folder
    finally:
        _run("umount", "--lazy", folder)


def grow(folder: Path, size: str) -> None:
    """More room on a small disk."""
    _run("mount", "-o", f"remount,size={size}", folder)


@contextmanager
def unwritable(folder: Path) -> Iterator[Path]:
    """`folder`, in which nothing can be made, changed or removed until the block ends; not even by root."""
    if os.geteuid():
        folder.chmod(0o555)
    elif _run("mount", "--bind", folder, folder) is None or _run("mount", "-o", "remount,bind,ro", folder) is None:
        pytest.skip("root writes anywhere but on a read-only mount, and none can be had here")
    try:
        yield folder
    finally:
        if os.geteuid():
            folder.chmod(0o755)
        else:
            _run("umount", "--lazy", folder)


def _run(command: str, *words: object) -> str | None:
    """What a command says, None if it is not there or fails."""
    if shutil.which(command) is None:
        return None
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None
