"""Explain: one case under one or more variants, replayed and scored alone; nothing is compared or judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.judging.assemble import case_info
from evals.judging.scoring import score_trials
from evals.models.run import CaseInfo, Trial
from evals.pipeline.options import Options
from evals.pipeline.replay import replay
from evals.pipeline.select import selected, to_be_run
from evals.suites.load import load_suite


@dataclass(frozen=True)
class Explained:
    """A case with its first trial under each variant, in the order they were asked for."""

    suite: str
    case: CaseInfo
    trials: tuple[Trial, ...]


def explain(case: str, variants: Sequence[str], suite: str, root: Path) -> Explained:
    """Replay and score `case` under the variants, or under the suite's candidate where none is named.

    Raises:
        ConfigurationError: the suite has no such case or variant.
        CannotJudgeError: the case is held out.
    """
    names = tuple(variants) or (load_suite(suite).candidate,)
    chosen = to_be_run(selected(suite, root, Options(cases=(case,), variants=names)))
    trials = score_trials(chosen.by_id, replay(chosen, jobs=1).traces)
    first = {trial.trace.variant: trial for trial in trials if trial.trace.sample == 0}
    return Explained(chosen.suite.name, case_info(chosen.cases[0]), tuple(first[name] for name in names))
