"""Annotations at the end of `evals run` on GitHub Actions, or where they are asked for."""

import os
from pathlib import Path

from evals.models.run import Run
from evals.subject.prompt_changes import changed_lines, usual_base


def annotate(run: Run, root: Path, *, asked: bool) -> None:
    """Print the workflow commands; nothing elsewhere than on GitHub unless `asked`.

    Changed means since the branch was made (the pull request's base); elsewhere, since the last commit.
    """
    if not asked and os.environ.get("GITHUB_ACTIONS") != "true":
        return
    from evals.export.annotations import ChangedLines, annotations

    changes = [ChangedLines(*each) for each in changed_lines(run.variants, root, usual_base())]
    for command in annotations(run, changes):
        print(command)
