"""Which lines of the prompt files changed since a revision, by `git diff`: what a verdict can be pinned to."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from unidiff.patch import PatchSet

from evals.models.run import VariantInfo
from triage.git import GitError, git

_FOLDER: Final = "triage/prompts"

Stretch = tuple[str, int, int]
"""(path from the checkout's root, first changed line, last changed line), lines of the file as it is now."""


def changed_lines(infos: Iterable[VariantInfo], root: Path, base: str) -> tuple[Stretch, ...]:
    """Changed stretches of the shipped prompts and of the variants' own files, since this branch left `base`.

    Where lines only went, the line that stands there now. Empty without git, repository or revision: an annotation is
    an extra, and nothing fails for the lack of one.
    """
    files = sorted({_FOLDER, *(info.prompt_source for info in infos if info.prompt_source.endswith(".md"))})
    fork = fork_of(root, base)
    if not fork:
        return ()
    words = ("diff", "--unified=0", "--no-color", "--relative", "--src-prefix=a/", "--dst-prefix=b/")
    patch = _told(root, *words, fork, "--", *files)
    return tuple(_stretches(PatchSet(patch)))


def fork_of(root: Path, base: str) -> str:
    """The commit at which this branch left `base`; empty where there is none."""
    return _told(root, "merge-base", "--end-of-options", base, "HEAD").strip()


def usual_base() -> str:
    """Where changes are counted from: the base of the pull request on GitHub, elsewhere the last commit."""
    base = os.environ.get("GITHUB_BASE_REF")
    return f"origin/{base}" if base else "HEAD"


def _stretches(patch: PatchSet) -> Iterable[Stretch]:
    for file in patch:
        if not file.is_removed_file and file.path.endswith(".md"):
            for hunk in file:
                first = max(hunk.target_start, 1)
                yield file.path, first, first + max(hunk.target_length, 1) - 1


def _told(root: Path, *words: str) -> str:
    """What git prints; nothing if it cannot."""
    try:
        return git(root, *words).decode("utf-8", errors="replace")
    except GitError:
        return ""
