"""Which lines of the prompt files changed since a revision, by `git diff`: what a verdict can be pinned to."""

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from unidiff.patch import PatchSet

from evals.models.run import VariantInfo

_FOLDER: Final = "triage/prompts"

Stretch = tuple[str, int, int]
"""(path from the checkout's root, first changed line, last changed line), lines of the file as it is now."""


def changed_lines(infos: Iterable[VariantInfo], root: Path, base: str) -> tuple[Stretch, ...]:
    """Changed stretches of the shipped prompts and of the variants' own files, since this branch left `base`.

    Where lines only went, the line that stands there now. Empty without git, repository or revision: an annotation is
    an extra, and nothing fails for the lack of one.
    """
    files = sorted({_FOLDER, *(info.prompt_source for info in infos if info.prompt_source.endswith(".md"))})
    fork = _git(root, "merge-base", "--end-of-options", base, "HEAD")
    if not fork:
        return ()
    patch = _git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", fork.strip(), "--", *files)
    return tuple(_stretches(PatchSet(patch)))


def _stretches(patch: PatchSet) -> Iterable[Stretch]:
    for file in patch:
        if not file.is_removed_file and file.path.endswith(".md"):
            for hunk in file:
                first = max(hunk.target_start, 1)
                yield file.path, first, first + max(hunk.target_length, 1) - 1


def _git(root: Path, *words: str) -> str:
    """What git prints; nothing if it cannot."""
    command: Sequence[str] = ("git", "-C", str(root), *words)
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # no shell
    except OSError:
        return ""
    return done.stdout.decode("utf-8", errors="replace") if done.returncode == 0 else ""
