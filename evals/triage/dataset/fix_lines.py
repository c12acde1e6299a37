"""Lines of the searched code that a case's fix edits, within the functions to blame."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from evals.models.case import Case
from evals.triage.dataset.case_code import load_codebase
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.derive_gold import lines_of, outermost_definitions
from evals.triage.dataset.package_store import Shelf


def fix_lines(case: Case, datasets: Path, cache: Path, searched: Path) -> tuple[str, ...]:
    """Runs of lines as `path:first-last` (from 1, both included) in the tree `searched`, which holds the fault; sorted.

    They are what the case's patch made, or what differs in the `fixed` release. Blank lines do not count. Lines that
    the fix only adds count as the line before and the line after them. Without a fix that is here there are none.
    """
    functions = case.labels.gold.functions
    mended = _mended(case, datasets, cache) if functions else None
    if mended is None:
        return ()
    edited: dict[str, set[int]] = {}
    for path, _, name in (function.partition("::") for function in functions):
        edited.setdefault(path, set()).update(_edited(name, searched / path, mended / path))
    return tuple(run for path in sorted(edited) for run in _runs(path, sorted(edited[path])))


def _mended(case: Case, datasets: Path, cache: Path) -> Path | None:
    """The folder with the code as the fix left it, where that is known and here."""
    labels, layout = case.labels, Layout(datasets)
    if case.tree is None:  # of no release
        return layout.codebase(labels.codebase) if labels.codebase and layout.patch(case.id).exists() else None
    if labels.fixed is None:
        return None
    shelf = Shelf(cache)
    release = labels.fixed.release_of(load_codebase(layout.codebase(labels.codebase)).releases[0].package)
    return None if shelf.missing([release]) else shelf.unpacked(release)


def _edited(name: str, *sides: Path) -> Iterator[int]:
    """Numbers of the lines of a definition in the first file that are others in the second, where both can be read."""
    if not all(map(outermost_definitions, sides)):
        return
    (numbers, before), (_, after) = (_definition(name, path) for path in sides)
    for kind, start, end, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from numbers[max(start - 1, 0) : end + 1] if kind == "insert" else numbers[start:end]


def _definition(name: str, path: Path) -> tuple[list[int], list[str]]:
    """The lines of an outermost definition, every one of that name, that are not blank: numbers from 1, and texts."""
    lines = lines_of(path)
    spans = [span for span in outermost_definitions(path) if span.name == name]
    numbers = [n for span in spans for n in range(span.first, span.last + 1) if lines[n - 1].strip()]
    return numbers, [lines[n - 1] for n in numbers]


def _runs(path: str, numbers: list[int]) -> Iterator[str]:
    firsts = [n for n in numbers if n - 1 not in numbers]
    lasts = [n for n in numbers if n + 1 not in numbers]
    return (f"{path}:{first}-{last}" for first, last in zip(firsts, lasts, strict=True))
