"""What a run is held against."""

from evals.judging.baseline import load_baseline, path_of
from evals.models.run import Baseline
from evals.pipeline.select import Selected


def baseline_of(chosen: Selected) -> Baseline | None:
    """The suite's blessed baseline, if there is one.

    Raises:
        CannotJudgeError: the file is there but cannot be read.
    """
    return load_baseline(path_of(chosen.workspace.baselines, chosen.suite.name))
