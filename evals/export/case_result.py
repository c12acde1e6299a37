"""What became of a case under a variant, as a test has it: the one reading that `junit.xml` and pytest share.

What broke down is an error; what is off the tape is no result; a case that broke, where the candidate is held against
the reference or any variant against its baseline, is a failure in a run that is not green. One that always failed is
none, as it is none for the gate.
"""

from collections.abc import Iterable, Sequence

from evals.models.outcome import Failed, Scored
from evals.models.run import Comparison, Run, ScorerInfo, Trial


def errors(trial: Trial) -> Iterable[str]:
    """Why a trial, or a score of it, has no result that could be trusted."""
    if trial.trace.provenance.label == "failed":
        yield trial.trace.error or "the trial failed"
        return
    for name, outcome in trial.outcomes.items():
        if isinstance(outcome, Failed):
            yield f"{name}: {outcome.error}"


def off_tape(trial: Trial) -> str:
    """Where the tape ends; empty for an exact trial."""
    if trial.trace.provenance.label == "exact":
        return ""
    where = f" at {trial.trace.misses[0].agent}" if trial.trace.misses else ""
    return f"{trial.trace.provenance}: nobody recorded what was asked{where}"


def broken(run: Run, variant: str, case: str) -> list[str]:
    """The endpoints on which the case is lower than under what the variant is held against, a sentence each."""
    return [_broke(item) for item in run.comparisons if case in item.broke and _judged(run, item, variant)]


def scores(trial: Trial, scorers: Sequence[ScorerInfo]) -> dict[str, float]:
    """The primary scores of one sample."""
    found = {scorer.name: trial.outcomes.get(scorer.name) for scorer in scorers if scorer.primary}
    return {name: outcome.value for name, outcome in found.items() if isinstance(outcome, Scored)}


def _judged(run: Run, item: Comparison, variant: str) -> bool:
    """Whether the gate looks at it: the candidate against the reference, and every variant against its baseline."""
    return item.left == variant and (item.against == "baseline" or variant == run.candidate)


def _broke(item: Comparison) -> str:
    because = f" ({item.divergence})" if item.divergence else ""
    return f"{item.endpoint} is lower under {item.left} than under {item.right}{because}"
