"""Run the trials of a selection and assemble the result: what `run`, `plan` and `bless` start with."""

from collections.abc import Sequence

from evals.assemble import assemble
from evals.baseline import load_baseline, path_of, with_blessed
from evals.cli.commands.progress import bar
from evals.cli.commands.selection import Options, Selected
from evals.dataset.baselines import decision_baseline, route_baselines
from evals.dataset.codebase import materialise
from evals.dataset.word_search import root_cause_baselines
from evals.material import Material
from evals.models.case import Case
from evals.models.run import Baseline, DatasetBaseline, Run, Scope
from evals.models.trace import Trace
from evals.runner.pool import Trials, run_trials
from evals.runner.scheduler import LOCAL, scheduled
from evals.runner.share import WHOLE, Share
from evals.runner.task import TRIAL_TIMEOUT
from evals.scoring import score_trials
from evals.subject.prompt_changes import usual_base
from evals.subject.prompt_committed import with_committed
from evals.workspace import Workspace


def replay(
    chosen: Selected,
    *,
    jobs: int,
    fresh: bool,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    scheduler: str = LOCAL,
) -> Trials:
    """All trials of the share, offline, with a progress bar."""
    elsewhere = scheduled(scheduler, chosen.workspace)
    total = share.size(len(chosen.cases) * chosen.suite.samples) * len(chosen.variants)
    with bar(f"replaying {chosen.suite.name}", total) as progress:

        def done(trace: Trace, *, reused: bool) -> None:
            progress.step(f"{trace.case_id} {trace.variant}: {trace.provenance}{' (reused)' if reused else ''}")

        return run_trials(
            chosen.suite,
            chosen.cases,
            chosen.variants,
            chosen.workspace,
            jobs=jobs,
            fresh=fresh,
            progress=done,
            trial_timeout=trial_timeout,
            share=share,
            elsewhere=elsewhere,
        )


def baseline_of(chosen: Selected) -> Baseline | None:
    """The suite's blessed baseline, if there is one.

    Raises:
        CannotJudgeError: the file is there but cannot be read.
    """
    return load_baseline(path_of(chosen.workspace.baselines, chosen.suite.name))


def dataset_baselines(cases: Sequence[Case], workspace: Workspace) -> list[DatasetBaseline]:
    """What the primary endpoints come to on these cases without any model."""
    causes = root_cause_baselines(cases, lambda case: materialise(case, workspace.datasets, workspace.cache))
    return [*route_baselines(cases, workspace.cache), *causes, *decision_baseline(cases)]


def finished(
    chosen: Selected, scope: Scope, options: Options, trials: Trials, baseline: Baseline | None, *, wants: bool
) -> Run:
    """Score, compare and judge; `wants` says whether a missing baseline keeps the run from being judged."""
    return assemble(
        Material(
            suite=chosen.suite,
            cases=chosen.cases,
            variants=with_blessed(with_committed(chosen.variants, chosen.workspace.root, usual_base()), baseline),
            trials=score_trials(chosen.by_id, trials.traces),
            scope=scope,
            dataset_baselines=dataset_baselines(chosen.cases, chosen.workspace),
            baseline=baseline,
            wants_baseline=wants,
            partial=options.partial,
            record_command=chosen.record_command,
            bless_command=chosen.bless_command,
        )
    )
