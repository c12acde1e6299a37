"""`evals compare`: two or more variants, prompt files or revisions on the cases of a suite, without writing a suite."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from evals.cli.terminal.replaying import watched
from evals.cli.terminal.result import say_result
from evals.export.files import write_report
from evals.export.folder import new_report
from evals.pipeline.compare import compare as compared
from evals.pipeline.options import Options
from evals.workspace import Workspace


def compare(
    specs: Sequence[str],
    suite: str,
    root: Path,
    options: Options,
    *,
    jobs: int,
    fresh: bool,
    out: Path | None,
    today: date,
) -> int:
    """Run the sides, judge the last against the first, write the report; the exit code is the verdict's."""
    workspace = Workspace.at(root, options.dataset)
    folder = out or workspace.reports / "compare"
    with new_report(folder):
        with watched(f"comparing {' '.join(specs)}") as progress:
            result = compared(specs, suite, root, options, jobs=jobs, fresh=fresh, progress=progress, today=today)
        write_report(result, folder)
    say_result(result, progress.took, folder, workspace.root)
    return result.verdict.exit_code
