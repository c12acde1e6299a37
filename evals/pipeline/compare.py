"""Compare: variants, prompt files or revisions, made into a suite of their own, run and judged."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from evals.models.run import Run
from evals.pipeline.judge import judge
from evals.pipeline.load import HERE, UNCHANGED, loaded
from evals.pipeline.operands import ad_hoc, operands
from evals.pipeline.options import Options
from evals.pipeline.replay import replay, unwatched
from evals.pipeline.select import Selected, selected
from evals.runner.pool import Progress
from evals.suites.load import load_suite
from evals.workspace import Workspace


def compare(
    sides: Sequence[str],
    suite: str = "prompts",
    root: Path = HERE,
    options: Options = UNCHANGED,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress = unwatched,
    today: date | None = None,
) -> Run:
    """The last side judged against the first, on the cases of `suite`; no baseline has a say.

    Args:
        sides: variants of the suite, prompt files (.md), `git:REV`, `git:REV:v3` or `git:REV:path.md`.
        suite: whose cases, models and policy to use.
        root: the checkout.
        options: which cases.
        jobs: worker processes; 1 runs in this one.
        fresh: run everything, also what is unchanged.
        progress: called once per trial, as they come.
        today: the day an opening of the holdout is counted under; that of the clock if not given.

    Raises:
        ConfigurationError: something names neither a variant, nor a prompt file, nor a prompt of a revision.
        CannotJudgeError: no case is selected, or all are held out.
    """
    chosen = loaded(_opposed(sides, suite, root, options), today, own_baseline=False)
    return judge(chosen, replay(chosen, jobs=jobs, fresh=fresh, progress=progress))


def _opposed(specs: Sequence[str], suite: str, root: Path, options: Options) -> Selected:
    """The sides on the cases of `suite`: the first as reference, the last one judged."""
    workspace = Workspace.at(root, options.dataset)
    basis = load_suite(suite)
    sides = operands(specs, basis, workspace)
    chosen = selected(str(ad_hoc(sides, basis, workspace)), root, options)
    sources = {side.variant.name: side.source for side in sides}
    infos = [
        info.model_copy(update={"prompt_source": sources[info.variant.name] or info.prompt_source})
        for info in chosen.variants
    ]
    return replace(chosen, variants=infos)
