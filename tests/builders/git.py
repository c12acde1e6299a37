"""A real git repository with this project's attributes and Makefile in it, and a `.venv` that runs this very code."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.builders.at_once import program_at_once

REPOSITORY = Path(__file__).parents[2]
IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """`git WORDS` in the repository, untouched by whatever this machine has configured."""
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), **IDENTITY}
    return subprocess.run(["git", *words], cwd=folder, env=kept, capture_output=True, text=True, check=False)


def a_git_checkout(folder: Path, *, set_up: bool = True) -> Path:
    """A repository on branch `main` whose first commit is this project's .gitattributes, .gitignore and Makefile."""
    (folder / "cassettes").mkdir(parents=True)
    (folder / "datasets").mkdir()
    for name in (".gitattributes", ".gitignore", "Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(REPOSITORY / name, folder)
    _a_venv(folder / ".venv")
    git(folder, "init", "--quiet", "--initial-branch=main")
    committed(folder, "start")
    if set_up:
        made = subprocess.run(["make", "setup-git"], cwd=folder, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
    return folder


def committed(folder: Path, message: str) -> None:
    """Everything there is, as one commit."""
    git(folder, "add", "--all")
    done = git(folder, "commit", "--quiet", "--message", message)
    assert done.returncode == 0, done.stderr + done.stdout


def _a_venv(folder: Path) -> None:
    program_at_once("evals", folder / "bin" / "evals")
    (folder / ".ready").touch()
    for name in ("pyproject.toml", "requirements.lock"):
        os.utime(folder.parent / name, (0, 0))  # older than .ready: make has nothing to set up
