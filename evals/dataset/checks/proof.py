"""Labels are proved: the patch applies, the repro shows the bug, and gold is where the patch put it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evals.dataset.checks.imports import foreign_imports, modules_of
from evals.dataset.checks.place import at_label, line_at
from evals.dataset.checks.process import TIMEOUT_S, Run, run_python
from evals.dataset.finding import Complaint, Subject
from evals.dataset.gold import derive_gold
from evals.errors import DatasetError
from evals.models.case import Gold

HASH_SEEDS: Final = (0, 1)


def patch_and_repro_exist(subject: Subject) -> Iterator[Complaint]:
    """A code bug brings a patch and a repro; a case in which no code is to blame brings neither."""
    category = subject.case.labels.category
    proofs = {
        subject.layout.patch(subject.id): subject.patch,
        subject.layout.repro(subject.id): subject.repro,
    }
    # a duplicate may have its original's proof, but then the whole of it
    needed = category == "code" or (category == "duplicate" and any(proofs.values()))
    for path, found in proofs.items():
        if needed and found is None:
            yield Complaint(f"is missing; this case of category `{category}` is proved by a patch and a repro", path)
        if not needed and found is not None:
            yield Complaint(f"is here although the category is `{category}`; remove it", path)


def patch_applies(subject: Subject) -> Iterator[Complaint]:
    """`git apply` takes the patch, and what comes out is Python that parses."""
    try:
        tree = subject.patched
    except DatasetError as error:
        message = str(error).removeprefix(f"{subject.patch}: ")
        yield Complaint(message, subject.layout.patch(subject.id), _line_in_patch(subject, message))
        return
    for file in sorted(tree.rglob("*.py")):
        try:
            ast.parse(file.read_bytes())
        except (SyntaxError, ValueError) as error:
            name = file.relative_to(tree).as_posix()
            message, line = f"leaves {name} unparsable: {error}", _line_in_patch(subject, f"{name}:")
            yield Complaint(message, subject.layout.patch(subject.id), line)


def patch_changes_the_package(subject: Subject) -> Iterator[Complaint]:
    """A bug is in the package's own Python files: not in its tests, which would tell, nor in its texts."""
    if subject.patch is None:
        return
    text = subject.patch.read_text(encoding="utf-8", errors="replace")
    for match in re.finditer(r"^(?:---|\+\+\+) [ab]/(.+)$", text, re.MULTILINE):
        name = match.group(1)
        if not (name.startswith(f"{subject.case.labels.codebase}/") and name.endswith(".py")):
            yield Complaint(
                f"changes {name!r}, which is no module of the package", subject.patch, line_at(text, match.start())
            )
            return


def repro_needs_no_library(subject: Subject) -> Iterator[Complaint]:
    """`repro.py` imports the codebase and the standard library, nothing else."""
    if subject.repro is not None and _buildable(subject):
        yield from foreign_imports(subject.repro, modules_of(subject.clean))


def repro_proves_the_bug(subject: Subject) -> Iterator[Complaint]:
    """`repro.py` fails on the patched tree and passes on the clean one, each within its time and whatever the order in
    which sets come out."""
    repro = subject.repro
    if repro is None or not (subject.patch or subject.from_git) or not _buildable(subject):
        return
    for seed in HASH_SEEDS:
        with_bug, without = (
            run_python(tree, repro, seed=seed, bare=not subject.from_git) for tree in (subject.patched, subject.clean)
        )
        if with_bug.code == 0:
            yield Complaint("passes although the bug is in; make it fail on what the issue reports", repro)
        if without.code not in (0, None):
            yield Complaint(f"fails without the bug: {without.said}", repro, _line_in_repro(without, repro))
        if with_bug.code is None or without.code is None:
            yield Complaint(f"did not end within {TIMEOUT_S} s; a repro must fail, not hang", repro)
        if with_bug.code in (0, None) or without.code != 0:
            return


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
            message = f"gold.{kind} is {list(labelled)}, the patch says {list(found)}"
            yield at_label(subject, message, "gold", kind)
    for index, path in enumerate(subject.case.labels.alternatives.files):
        if not (subject.patched / path).is_file():
            message = f"alternatives name {path!r}, which is not in the codebase"
            yield at_label(subject, message, "alternatives", "files", index)


def _buildable(subject: Subject) -> bool:
    try:
        return subject.patched.is_dir() and subject.clean.is_dir()
    except DatasetError:
        return False  # `patch_applies` says so


def _line_in_patch(subject: Subject, message: str) -> int:
    """The line of the patch that a complaint is about: it names a line of the patch, or a place in a file."""
    text = subject.layout.patch(subject.id).read_text(encoding="utf-8", errors="replace")
    counted = re.search(r"patch at (?:.*:|line )(\d+)", message)
    if counted:
        return max(1, min(int(counted.group(1)), len(text.splitlines())))  # git counts the line that is missing too
    place = re.search(r"([\w./-]+\.\w+):(\d*)", message)
    file = place and re.search(rf"^\+\+\+ b/{re.escape(place.group(1))}$", text, re.MULTILINE)
    if not place or not file:
        return 1
    hunk = re.compile(rf"^@@ -{place.group(2)}\b", re.MULTILINE).search(text, file.end()) if place.group(2) else None
    return line_at(text, (hunk or file).start())


def _line_in_repro(run: Run, repro: Path) -> int:
    """The last line of the repro that its traceback goes through."""
    lines = re.findall(rf'File "[^"]*{re.escape(repro.name)}", line (\d+)', run.stderr)
    return int(lines[-1]) if lines else 1
