"""One trial by case and variant, replayed and explained."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.cassettes.cassette_data import Cassette, Interaction
from evals.comparison.assemble_run import case_info
from evals.comparison.divergences import changes_of, earlier_of
from evals.errors import ConfigurationError, EvalsError
from evals.models.run import CaseChange, CaseInfo, Trial
from evals.models.run_request import Options
from evals.models.trace import Trace
from evals.paths import path_of_user
from evals.pipeline.decisive_step import with_decisive_steps
from evals.pipeline.load_suite import baseline_of, selected, to_be_run
from evals.pipeline.run_suite import replay
from evals.scoring.registry import deciding, score_trials
from evals.suites.suite_files import names_on, read_suite, select
from evals.workspace import Workspace


def trial(case: str, variant: str, suite: str, root: Path) -> Trace:
    """The variant's first trial of the case, replayed offline (or reused)."""
    chosen = selected(suite, root, Options(cases=(case,), variants=(variant,)))
    return replay(chosen, jobs=1).traces[0]


def trial_suite(case: str, variant: str, workspace: Workspace) -> str:
    """The first shipped suite that runs this variant on this case."""
    cases = workspace.pack.load_cases(workspace.datasets)
    for name in names_on(workspace.dataset_name, workspace.root):
        suite = read_suite(name, workspace.root)
        try:
            has_case = bool(select(cases, suite.cases, [case]))
        except EvalsError:
            continue  # a suite that lacks the case is no mistake here
        if has_case and any(known.name == variant for known in suite.variants):
            return name
    raise ConfigurationError(f"--variant {variant}: no shipped suite runs it on {case}; name a suite file with --suite")


def in_order(trace: Trace, cassette: Cassette) -> tuple[Interaction, ...]:
    """What the trial was served, its frozen states last."""
    keys = [call.key for call in trace.calls] + [key for point in trace.points for key in point.keys]
    found = (cassette.exact(key, trace.sample) for key in keys)
    return tuple(interaction for interaction in found if interaction is not None)


@dataclass(frozen=True)
class Explained:
    """A case with its first trial under each variant, in the order they were asked for."""

    suite: str
    case: CaseInfo
    trials: tuple[Trial, ...]
    changes: tuple[CaseChange, ...] = ()


def explain(case: str, variants: Sequence[str], suite: str, root: Path | str) -> Explained:
    """Replay and score `case` under the variants, or under the suite's candidate where none is named.

    Raises:
        ConfigurationError: the suite has no such case or variant.
        CannotJudgeError: the case is held out.
    """
    root = path_of_user(root, "root")
    names = tuple(variants) or (read_suite(suite, root).candidate,)
    chosen = to_be_run(selected(suite, root, Options(cases=(case,), variants=names)))
    trials = with_decisive_steps(chosen, score_trials(chosen.by_id, replay(chosen, jobs=1).traces, chosen.pack))
    metrics = deciding(chosen.pack, chosen.suite.primary, chosen.cases)
    changes = changes_of(earlier_of(chosen.suite, metrics, baseline_of(chosen)), names, trials)
    first = {trial.trace.variant: trial for trial in trials if trial.trace.sample == 0}
    return Explained(chosen.suite.name, case_info(chosen.cases[0]), tuple(first[name] for name in names), changes)
