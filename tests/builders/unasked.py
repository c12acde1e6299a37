"""Runs in which trials are not recorded yet: their answers are hidden, and come back one trial at a time."""

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from evals.analysis.selftest_faults import Plant, ScratchSuite, dropped_step
from evals.cassettes import manifest
from evals.cassettes.cassette_files import load, merge_write
from evals.comparison.assemble_run import verdict_of
from evals.comparison.baseline import make_baseline, path_of, write_baseline
from evals.comparison.metric_summaries import Material
from evals.models.metrics import Scored
from evals.models.run import Trial, Verdict
from evals.models.trace import Provenance
from evals.pipeline.decide_run import score
from evals.pipeline.load_suite import load_suite
from evals.pipeline.run_suite import replay
from evals.runner.trials import TrialId, trial_id
from evals.scoring.registry import score_trials
from evals.workspace import Workspace
from tests.builders.checkout import REPOSITORY


@dataclass(frozen=True)
class Unasked:
    """A whole run of which some trials are hidden, or of `only_points` just their answers at decision points."""

    whole: Material
    hidden: Collection[TrialId]
    only_points: bool = False

    @cached_property
    def _without(self) -> dict[TrialId, Trial]:
        mine = [trial.trace for trial in self.whole.trials if trial_id(trial.trace) in self.hidden]
        nothing = {"visits": (), "decisions": (), "calls": (), "report": None, "comment": "", "output": {}}
        nothing["provenance"] = Provenance(label="unrecorded")
        gone = [
            trace.model_copy(
                update={
                    **({} if self.only_points else nothing),
                    "points": tuple(
                        point.model_copy(update={"chosen": None, "routed": None, "keys": ()}) for point in trace.points
                    ),
                }
            )
            for trace in mine
        ]
        scored = {trial_id(each.trace): each for each in score_trials(self.whole.by_id, gone, self.whole.pack)}
        if not self.only_points:
            return scored
        kept = [each.name for each in self.whole.metrics if not each.open_loop]
        known = {trial_id(each.trace): each.outcomes for each in self.whole.trials}
        return {
            one: trial.model_copy(
                update={
                    "outcomes": {**trial.outcomes, **{name: known[one][name] for name in kept if name in known[one]}}
                }
            )
            for one, trial in scored.items()
        }

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


def claims(verdict: Verdict) -> set[str]:
    """What its sentence calls better or equivalent, in phrases without the number of cases; and each comparison that is
    a reason against it."""
    said = (part.partition(" over ")[0] for part in verdict.sentence.rstrip(".").split("; "))
    lost = {
        each.text.partition(" points")[0].rpartition(" ")[0] for each in verdict.reasons if each.kind == "regression"
    }
    return lost | {part for part in said if "better than" in part or "equivalent" in part or "95 % interval" in part}


def shipped_trials(suite: str) -> Material:
    """A shipped suite, replayed and scored."""
    context = load_suite(suite, REPOSITORY)
    return score(context, replay(context))


def shipped_repeats(suite: str) -> Material:
    """The same with two repeats of its first variant, and none of the others."""
    context = load_suite(suite, REPOSITORY)
    twice = replace(context, suite=context.suite.model_copy(update={"samples": 2}))
    return score(twice, replay(replace(twice, variants=twice.variants[:1])))


def as_first_judged(scored: Material, candidate: str, reference: str) -> Material:
    """Two variants of a suite, of which the reference was blessed as it is, and the candidate never."""
    infos = [info for info in scored.variants if info.variant.name in (reference, candidate)]
    variants = tuple(info.variant for info in infos)
    suite = scored.suite.model_copy(update={"candidate": candidate, "reference": reference, "variants": variants})
    trials = [trial for trial in scored.trials if trial.trace.variant in (reference, candidate)]
    theirs = [trial for trial in trials if trial.trace.variant == reference]
    known = [info for info in infos if info.variant.name == reference]
    baseline = make_baseline(suite.name, scored.cases, known, theirs, pack=scored.pack)
    fields = {"baseline": baseline, "wants_baseline": True, "edited_prompts": (), "partial": ()}
    return replace(scored, suite=suite, variants=infos, trials=trials, **fields)


def with_fault(whole: Material, plant: Plant) -> Material:
    """The run with a fault of the self-test in its candidate."""
    workspace, name = Workspace.at(REPOSITORY), whole.suite.candidate
    assert whole.baseline is not None
    bench = (whole.suite, tuple(whole.cases), tuple(whole.variants), tuple(whole.trials), whole.baseline, workspace)
    spoilt = plant(ScratchSuite(*bench, REPOSITORY))
    assert not isinstance(spoilt, str), spoilt
    return replace(whole, trials=sorted(spoilt.trials, key=lambda trial: trial.trace.variant == name))


def with_losses(whole: Material, share: float, metric: str = "route.pass") -> Material:
    """The run in which the candidate fails a share of its cases that pass, drawn by a fixed seed."""
    rng = np.random.default_rng(7)
    trials = list(whole.trials)
    for place, trial in enumerate(trials):
        if trial.trace.variant == whole.suite.candidate and rng.random() < share:
            trials[place] = trial.model_copy(update={"outcomes": {**trial.outcomes, metric: Scored(value=0.0)}})
    return replace(whole, trials=trials)


def between_repeats(scored: Material, variant: str, candidate: str) -> Material:
    """A change that changes nothing: the second answers of a variant stand for those of the candidate."""
    first = [trial for trial in scored.trials if trial.trace.variant == variant and trial.trace.sample == 0]
    second = [trial.trace for trial in scored.trials if trial.trace.variant == variant and trial.trace.sample == 1]
    renamed = [trace.model_copy(update={"variant": candidate, "sample": 0}) for trace in second]
    trials = (*first, *score_trials(scored.by_id, renamed, scored.pack))
    suite = scored.suite.model_copy(update={"samples": 1})
    return as_first_judged(replace(scored, suite=suite, trials=trials), candidate, variant)


def changes() -> dict[str, Material]:
    """Changes on shipped recordings, from a better prompt to a clear regression."""
    prompts, samples = shipped_trials("prompts"), shipped_repeats("samples")
    better = as_first_judged(prompts, "v6", "v3")
    return {
        "v6 against v3": better,
        "v3 against v6": as_first_judged(prompts, "v3", "v6"),
        "a dropped step": with_fault(better, dropped_step),
        "30 % of routes lost": with_losses(better, 0.3),
        "no change": between_repeats(samples, *samples.names[:2]),
    }


def answers_of(whole: Material) -> dict[TrialId, int]:
    """Trial of the candidate -> answers it takes that the reference has not."""
    suite = whole.suite
    theirs = {each.trace.case_id: each.trace.asked for each in whole.trials if each.trace.variant == suite.reference}
    mine = [each.trace for each in whole.trials if each.trace.variant == suite.candidate]
    return {trial_id(trace): len(trace.asked - theirs[trace.case_id]) for trace in mine}


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
