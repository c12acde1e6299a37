"""Runs in which trials are not recorded yet: their answers are hidden, and come back one trial at a time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evals.comparison.assemble import verdict_of
from evals.comparison.summary import Material
from evals.models.run import Trial
from evals.models.trace import Provenance
from evals.runner.trials import TrialId, trial_id
from evals.scoring.score_trials import score_trials


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
