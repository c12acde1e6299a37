"""False alarms of the whole gate where nothing changed but chance: the recorded repeats of the suite `samples`.

Six ordered pairs of whole repeats, and two thousand mixtures in which every case has a repeat of its own for the
baseline and another one for the run. With losses planted beside it, the power is printed.
"""

from pathlib import Path
from typing import Final

import numpy as np

from evals.comparison.metric_summaries import Material
from evals.errors import EXIT_WORSE
from evals.models.run import Scope
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.pipeline.run_suite import replay
from evals.pipeline.selftest_suite import Repeats
from evals.scoring.registry import score_trials
from tests.builders.checkout import REPOSITORY
from tests.chaos.row import Row

SUITE: Final = "samples"
MIXTURES: Final = 2_000
LOSSES: Final = (4, 8, 12)
ALPHA: Final = 0.05


def rows(_folder: Path, share: float, seed: int) -> list[Row]:
    """The pairs of repeats, and a share of the mixtures. More red ones than alpha is against the promise."""
    repeats, rng = recorded(), np.random.default_rng(seed)
    pairs = [(one, other) for one in range(repeats.count) for other in range(repeats.count) if one != other]
    red = sum(repeats.whole(*pair).exit_code == EXIT_WORSE for pair in pairs)
    count = round(MIXTURES * share) or 1
    alarms = repeats.rate(count, rng).red
    print(f"mixtures of repeats: {alarms} of {count} red without a cause")
    for planted in ("routes", "hard constraints"):
        for losses in LOSSES:
            rate = repeats.rate(max(20, count // 20), rng, losses, planted)  # type: ignore[arg-type]  # the words are Planted
            print(f"{losses} of {rate.cases} cases lost in {planted}: {rate.red} of {rate.draws} red")
    return [
        Row("pairs of recorded repeats that are red", len(pairs), red),
        Row(f"mixtures of repeats, red beyond {ALPHA:.0%}", count, max(0, alarms - round(ALPHA * count))),
    ]


def recorded() -> Repeats:
    """The shipped repeats, replayed and scored."""
    chosen = selected(SUITE, REPOSITORY, Options())
    return Repeats(
        Material(
            suite=chosen.suite,
            cases=chosen.cases,
            variants=chosen.variants,
            trials=score_trials(chosen.by_id, replay(chosen).traces),
            scope=Scope(cases=len(chosen.cases), selected=len(chosen.cases)),
            dataset_baselines=(),
            baseline=None,
            wants_baseline=True,
            partial=(),
            record_command=chosen.record_command,
            bless_command=chosen.bless_command,
        )
    )
