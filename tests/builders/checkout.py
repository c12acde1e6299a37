"""A whole tiny checkout: two cases, one suite file with two variants, one prompt of its own; and how to command it."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

import triage.prompts
from evals.cli.main import main
from evals.triage.dataset.load_cases import load_cases
from evals.triage.dataset.route_strictness import passing_of
from tests.builders.dataset import a_case_file, a_case_folder, a_dataset, a_page, write

REPOSITORY = Path(__file__).parents[2]
POINTS = [
    {
        "id": "start",
        "state": {"iterations": 1, "visits": ["investigator"]},
        "accept": {"investigator": 1.0},
        "why": "nothing is known yet",
    }
]
POOLED = ("run", "plan", "record", "bless", "compare", "sweep", "selftest", "drift", "attribute", "dataset lint")
LABELS = {"tags": ["tiny"], "decision_points": POINTS}
UNDER_WAY = shutil.ignore_patterns("*.pyc.*")  # half written by another process
ISSUE = "# The sum is wrong\n\nTwo books cost as much as one. I changed nothing, and it worked last week.\n"


def own_code(folder: Path) -> Path:
    """A copy of the code in `folder`, to be changed there; with its bytecode, which knows what was changed."""
    for package in ("evals", "triage"):
        shutil.copytree(REPOSITORY / package, folder / package, ignore=UNDER_WAY, dirs_exist_ok=True)
    return folder


def a_suite(folder: Path, **changes: Any) -> Path:
    """The suite file `tiny.yaml`: prompt v2 against a prompt of this checkout, with some fields changed."""
    suite: dict[str, Any] = {
        "name": "tiny",
        "description": "Two cases, two prompts.",
        "cases": {"tags": ["tiny"]},
        "models": {"default": "m", "fallback": "m"},
        "variants": [{"name": "old", "prompt": "v2"}, {"name": "new", "prompt": "mine.md"}],
        "candidate": "new",
        "reference": "old",
    }
    return write(folder / "tiny.yaml", yaml.safe_dump(suite | changes, sort_keys=False))


def a_checkout(folder: Path, **suite: Any) -> Path:
    """The checkout in `folder`; nothing is recorded in it yet, and which routes pass is known."""
    _a_dataset(folder / "datasets")
    for name, content in _passing().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    shipped = Path(triage.prompts.__file__).parent / "supervisor" / "v3.md"
    write(folder / "mine.md", shipped.read_text(encoding="utf-8").replace("version: v3", "version: mine"))
    a_suite(folder, **suite)
    return folder


def _a_dataset(root: Path) -> None:
    a_dataset(root, a_case_file(**LABELS))
    a_case_folder(root, a_case_file(id="wrong-sum", **LABELS), issue=ISSUE)
    a_page(root)


@cache
def _passing() -> dict[str, bytes]:
    """What is kept in `.cache/passing` of the two cases, by path: trying all routes takes a second, and no test of a
    whole checkout is about that."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _a_dataset(folder / "datasets")
        for case in load_cases(folder / "datasets").values():
            passing_of(case.route_spec, folder / ".cache")
        kept = (path for path in (folder / ".cache").rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def evals(checkout: Path, *words: str) -> Said:
    """`evals WORDS` in this process, with the checkout as working directory; one worker."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(checkout), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        is_pooled = words[0] in POOLED or " ".join(words[:2]) in POOLED
        code = main([*words, *(("--jobs", "1") if is_pooled and "--jobs" not in words else ())])
    return Said(code, out.getvalue(), err.getvalue())


def started(checkout: Path, *words: str, before: Sequence[str] = (), **environment: str) -> "subprocess.Popen[str]":
    """`evals WORDS` as a process of its own, in a session of its own, with nothing but `environment` around it."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), **environment}
    return subprocess.Popen(
        [*before, sys.executable, "-m", "evals", *words],
        cwd=checkout,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def cassettes(checkout: Path) -> dict[str, bytes]:
    """The committed cassettes, by name."""
    return {path.name: path.read_bytes() for path in sorted((checkout / "cassettes").glob("*.yaml"))}
