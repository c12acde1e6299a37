"""Recorded repeats through the whole gate: its verdict on two sets of answers of the same model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from evals.comparison import gate
from evals.comparison.baseline import make_baseline
from evals.comparison.gate_input import facts_of
from evals.comparison.sides import compared
from evals.comparison.summary import Material, case_means
from evals.errors import EXIT_WORSE
from evals.models.analysis import RedRate
from evals.models.metrics import Scored
from evals.models.run import Trial, Verdict
from evals.scoring.registry import safety_metrics
from evals.statistics.intervals import rate_interval

Planted = Literal["routes", "hard constraints"]
ROUTE: Final = "route.pass"
_ANY: Final = "no scorer changes here"


class Repeats:
    """The scored trials of a suite with repeats, by case, variant and repeat."""

    def __init__(self, material: Material) -> None:
        """`material` holds the trials of all repeats; what it says of baselines and cassettes is not used."""
        wanted = {info.name for info in material.metrics if info.primary} | {*safety_metrics(material.pack)}
        self._by_repeat: dict[tuple[str, str, int], Trial] = {}
        for trial in material.trials:
            trace = trial.trace
            told = {name: outcome for name, outcome in trial.outcomes.items() if name in wanted}
            self._by_repeat[trace.case_id, trace.variant, trace.sample] = trial.model_copy(
                update={"trace": trace.model_copy(update={"sample": 0}), "outcomes": told}
            )
        self._cells = [(case.id, name) for case in material.cases for name in material.names]
        suite = material.suite.model_copy(update={"samples": 1, "as_blessed": None})
        self._material = replace(material, suite=suite, cassettes={}, scorers=_ANY, partial=())
        self.count = material.suite.samples

    @property
    def churn(self) -> float:
        """How often a case's route passes in one repeat and fails in another: the mean over cases, variants and pairs
        of repeats."""
        passed = {key: self._passed(trial) for key, trial in self._by_repeat.items()}
        pairs = [(one, other) for one in range(self.count) for other in range(one)]
        unlike = [passed[*cell, one] != passed[*cell, other] for cell in self._cells for one, other in pairs]
        return float(np.mean(unlike))

    def whole(self, before: int, after: int) -> Verdict:
        """The verdict on repeat `after` of every case, held against repeat `before` as its baseline."""
        return self._judge([(before, after)] * len(self._cells))

    def mixed(self, rng: np.random.Generator, losses: int = 0, planted: Planted = "routes") -> Verdict:
        """The verdict on a mixture of repeats, with losses planted in that many cases of the candidate."""
        drawn = rng.permuted(np.tile(np.arange(self.count), (len(self._cells), 1)), axis=1)
        return self._judge([(int(row[0]), int(row[1])) for row in drawn], losses, planted, rng)

    def rate(self, draws: int, rng: np.random.Generator, losses: int = 0, planted: Planted = "routes") -> RedRate:
        """How many of so many mixtures are red."""
        red = sum(self.mixed(rng, losses, planted).exit_code == EXIT_WORSE for _ in range(draws))
        low, high = rate_interval(red, draws) or (None, None)
        return RedRate(
            cases=len(self._material.cases),
            flips=losses,
            churn=self.churn,
            red=red,
            draws=draws,
            low=low,
            high=high,
            outcomes="recorded repeats",
            planted=planted,
        )

    def _judge(
        self,
        drawn: Sequence[tuple[int, int]],
        losses: int = 0,
        planted: Planted = "routes",
        rng: np.random.Generator | None = None,
    ) -> Verdict:
        before = [self._by_repeat[*cell, one] for cell, (one, _) in zip(self._cells, drawn, strict=True)]
        after = [self._by_repeat[*cell, other] for cell, (_, other) in zip(self._cells, drawn, strict=True)]
        if losses and rng is not None:
            after = self._spoilt(before, after, losses, planted, rng)
        own = self._material
        baseline = make_baseline(own.suite.name, own.cases, own.variants, before, _ANY, pack=own.pack)
        now = make_baseline(own.suite.name, own.cases, own.variants, after, _ANY, pack=own.pack)
        material = replace(own, trials=after, baseline=baseline, wants_baseline=True)
        return gate.decide(facts_of(material, now, compared(material, material.metrics)))

    def _spoilt(
        self, before: Sequence[Trial], after: Sequence[Trial], losses: int, planted: Planted, rng: np.random.Generator
    ) -> list[Trial]:
        candidate = self._material.suite.candidate
        passing = [case for case, value in case_means(before, candidate, ROUTE).items() if value == 1]
        lost = set(rng.choice(passing, size=min(losses, len(passing)), replace=False).tolist())
        found = []
        for trial in after:
            if trial.trace.variant == candidate and trial.trace.case_id in lost:
                update: dict[str, object] = {"outcomes": {**trial.outcomes, ROUTE: Scored(value=0.0)}}
                if planted == "hard constraints":
                    update["hard_violations"] = (*trial.hard_violations, "planted")
                trial = trial.model_copy(update=update)  # noqa: PLW2901 - the trial with the loss in it
            found.append(trial)
        return found

    @staticmethod
    def _passed(trial: Trial) -> bool:
        outcome = trial.outcomes.get(ROUTE)
        return isinstance(outcome, Scored) and outcome.value == 1
