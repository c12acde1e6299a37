"""One trial by the name of its variant: which suite has it, and what it was served, in order."""

from pathlib import Path

from evals.cassette.store import Cassette, Interaction
from evals.dataset.load import load_cases
from evals.errors import ConfigurationError, EvalsError
from evals.models.trace import Trace
from evals.pipeline.options import Options
from evals.pipeline.replay import replay
from evals.pipeline.select import selected
from evals.suites.load import load_suite, names_on, select
from evals.workspace import Workspace


def trial(case: str, variant: str, suite: str, root: Path) -> Trace:
    """The variant's first trial of the case, replayed offline (or reused)."""
    chosen = selected(suite, root, Options(cases=(case,), variants=(variant,)))
    return replay(chosen, jobs=1).traces[0]


def trial_suite(case: str, variant: str, workspace: Workspace) -> str:
    """The first shipped suite that runs this variant on this case."""
    cases = load_cases(workspace.datasets)
    for name in names_on(workspace.dataset_name):
        suite = load_suite(name)
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
