"""`evals compare`: two or more variants, prompt files or revisions on the cases of a suite, without writing a suite."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from evals.cli.commands.operands import ad_hoc, operands
from evals.cli.commands.run import judged
from evals.cli.commands.selection import Options, scored, selected
from evals.suites.load import load_suite
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
    basis = load_suite(suite)
    sides = operands(specs, basis, workspace)
    chosen, scope = scored(selected(str(ad_hoc(sides, basis, workspace)), root, options), options, today)
    sources = {side.variant.name: side.source for side in sides}
    infos = [
        info.model_copy(update={"prompt_source": sources[info.variant.name] or info.prompt_source})
        for info in chosen.variants
    ]
    folder = out or workspace.reports / "compare"
    result = judged(
        replace(chosen, variants=infos), scope, options, None, wants=False, jobs=jobs, fresh=fresh, folder=folder
    )
    return result.verdict.exit_code
