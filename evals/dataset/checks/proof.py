"""Labels are proved: the patch applies, the repro shows the bug, and gold is where the patch put it."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from evals.dataset.finding import Complaint, Subject
from evals.dataset.gold import derive_gold
from evals.errors import DatasetError
from evals.models.case import Gold

TIMEOUT_S: Final = 20


class Run(NamedTuple):
    """How a process ended; `code` is None if it had to be stopped."""

    code: int | None
    said: str


def patch_and_repro_exist(subject: Subject) -> Iterator[Complaint]:
    """A code bug brings a patch and a repro; a case in which no code is to blame brings neither."""
    is_code = subject.case.labels.category == "code"
    for path, found in (
        (subject.layout.patch(subject.id), subject.patch),
        (subject.layout.repro(subject.id), subject.repro),
    ):
        if is_code and found is None:
            yield Complaint("is missing; a case of category `code` is proved by a patch and a repro", path)
        if not is_code and found is not None:
            yield Complaint(f"is here although the category is `{subject.case.labels.category}`; remove it", path)


def patch_applies(subject: Subject) -> Iterator[Complaint]:
    """`git apply` takes the patch, and what comes out is Python that parses."""
    try:
        tree = subject.patched
    except DatasetError as error:
        yield Complaint(str(error), subject.layout.patch(subject.id))
        return
    for file in sorted(tree.rglob("*.py")):
        try:
            ast.parse(file.read_bytes())
        except (SyntaxError, ValueError) as error:
            name = file.relative_to(tree).as_posix()
            yield Complaint(f"leaves {name} unparsable: {error}", subject.layout.patch(subject.id))


def repro_proves_the_bug(subject: Subject) -> Iterator[Complaint]:
    """`repro.py` fails on the patched tree and passes on the clean one, each within its time."""
    repro = subject.repro
    if repro is None or subject.patch is None or not _buildable(subject):
        return
    with_bug, without = run_python(subject.patched, repro), run_python(subject.clean, repro)
    if with_bug.code == 0:
        yield Complaint("passes although the bug is in; make it fail on what the issue reports", repro)
    if without.code not in (0, None):
        yield Complaint(f"fails without the bug: {without.said}", repro)
    if with_bug.code is None or without.code is None:
        yield Complaint(f"did not end within {TIMEOUT_S} s; a repro must fail, not hang", repro)


def gold_is_derived(subject: Subject) -> Iterator[Complaint]:
    """The gold in `case.yaml` is what `derive_gold` reads off the patch, and empty where there is no patch."""
    if not _buildable(subject):
        return
    gold = subject.case.labels.gold
    try:
        derived = derive_gold(subject.clean, subject.patched) if subject.patch else Gold()
    except SyntaxError:
        return  # `patch_applies` says so
    for kind, labelled, found in (
        ("files", gold.files, derived.files),
        ("functions", gold.functions, derived.functions),
    ):
        if sorted(labelled) != sorted(found):
            yield Complaint(f"gold.{kind} is {list(labelled)}, the patch says {list(found)}", subject.labels_path)
    for path in subject.case.labels.alternatives.files:
        if not (subject.patched / path).is_file():
            yield Complaint(f"alternatives name {path!r}, which is not in the codebase", subject.labels_path)


def codebase_tests_pass(clean: Path, codebase: Path) -> Iterator[Complaint]:
    """The clean codebase's own tests exist and pass (`python -m unittest discover -s tests`)."""
    run = run_python(clean, "-m", "unittest", "discover", "-s", "tests")
    if run.code is None:
        yield Complaint(f"its tests did not end within {TIMEOUT_S} s", codebase / "tests")
    elif run.code != 0:
        yield Complaint(f"its own tests fail: {run.said}", codebase / "tests")
    elif not re.search(r"Ran [1-9]\d* test", run.said):
        yield Complaint("has no tests that `python -m unittest discover -s tests` finds", codebase / "tests")


def run_python(tree: Path, *arguments: Path | str) -> Run:
    """Runs Python with a throw-away copy of `tree` as working directory and import path.

    Whatever the code writes vanishes with the copy: the tree the agents read stays as it was built.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(tree, Path(scratch) / "tree")
        command = [sys.executable, *(str(each.resolve() if isinstance(each, Path) else each) for each in arguments)]
        try:
            done = subprocess.run(  # noqa: S603 -- our own interpreter on code of our own dataset
                command,
                cwd=copy,
                env=_environment(copy),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Run(None, "")
        return Run(done.returncode, _summary(done.stderr))


def _summary(stderr: str) -> str:
    """The end of what was said, on one line: the exception, or unittest's count and result."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return " | ".join(lines[-3:])


def _environment(tree: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    return kept | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}


def _buildable(subject: Subject) -> bool:
    try:
        return subject.patched.is_dir() and subject.clean.is_dir()
    except DatasetError:
        return False  # `patch_applies` says so
