"""Runs in which trials are not recorded yet: their answers are hidden, and come back one trial at a time."""

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from evals.cassettes import manifest
from evals.cassettes.store import load, merge_write
from evals.comparison.assemble import verdict_of
from evals.comparison.baseline import make_baseline, path_of, write_baseline
from evals.comparison.summary import Material
from evals.models.run import Trial
from evals.models.trace import Provenance
from evals.pipeline.decide_run import score
from evals.pipeline.load_run import load_suite
from evals.pipeline.run_suite import replay
from evals.runner.trials import TrialId, trial_id
from evals.scoring.score_trials import score_trials
from evals.workspace import Workspace
from tests.builders.checkout import REPOSITORY


@dataclass(frozen=True)
class Unasked:
    """A whole run of which some trials are hidden."""

    whole: Material
    hidden: Collection[TrialId]

    @cached_property
    def _without(self) -> dict[TrialId, Trial]:
        mine = [trial.trace for trial in self.whole.trials if trial_id(trial.trace) in self.hidden]
        nothing = {"visits": (), "decisions": (), "calls": (), "report": None, "comment": "", "output": {}}
        gone = [
            trace.model_copy(
                update={
                    **nothing,
                    "provenance": Provenance(label="unrecorded"),
                    "points": tuple(
                        point.model_copy(update={"chosen": None, "routed": None, "keys": ()}) for point in trace.points
                    ),
                }
            )
            for trace in mine
        ]
        return {trial_id(each.trace): each for each in score_trials(self.whole.by_id, gone, self.whole.pack)}

    def with_only(self, known: Collection[TrialId]) -> Material:
        """The run in which only these of the hidden trials are recorded."""
        left = {trial for trial in self.hidden if trial not in known}
        trials = [self._without[one] if (one := trial_id(each.trace)) in left else each for each in self.whole.trials]
        unlike = {case: f"{case} without {sorted(left)}" for case, _, _ in left}
        return replace(self.whole, trials=trials, cassettes={**self.whole.cassettes, **unlike})

    def needed(self, order: Sequence[TrialId]) -> int:
        """After how many trials of this order the verdict is given: the fewest, as it is given ever after."""
        low, high = -1, len(order)  # not yet at `low`, surely at `high`
        while high - low > 1:
            middle = (low + high) // 2
            given = verdict_of(self.with_only(order[:middle])).status != "cannot judge"
            low, high = (low, middle) if given else (middle, high)
        return high


def as_first_judged(suite: str = "prompts", candidate: str = "v5") -> Material:
    """A shipped suite whose candidate was never blessed; the others are blessed as they are."""
    shipped = load_suite(suite, REPOSITORY)
    scored = score(shipped, replay(shipped))
    others = [info for info in scored.variants if info.variant.name != candidate]
    trials = [trial for trial in scored.trials if trial.trace.variant != candidate]
    return replace(
        scored, baseline=make_baseline(suite, scored.cases, others, trials, pack=scored.pack), edited_prompts=()
    )


def a_checkout_before(folder: Path, judged: Material) -> Path:
    """The checkout of a shipped suite in which its candidate is neither recorded nor blessed."""
    shutil.copytree(REPOSITORY / "datasets", folder / "datasets", ignore=shutil.ignore_patterns("released"))
    (folder / "cassettes").mkdir()
    for path in (*(REPOSITORY / "cassettes").glob("*.npz"), *(REPOSITORY / "cassettes").glob("*.toml")):
        shutil.copy(path, folder / "cassettes")
    asked: dict[str, set[str]] = {}
    for trace in (trial.trace for trial in judged.trials if trial.trace.variant != judged.suite.candidate):
        asked.setdefault(trace.case_id, set()).update(trace.asked)
    for case, keys in asked.items():
        kept = [each for each in load(REPOSITORY / "cassettes" / f"{case}.yaml").interactions if each.key in keys]
        merge_write(folder / "cassettes" / f"{case}.yaml", kept)
    manifest.write(folder / "cassettes")
    assert judged.baseline is not None
    write_baseline(path_of(Workspace.at(folder).baselines, judged.suite.name), judged.baseline)
    return folder
