"""How far one draw can be trusted: candidate against reference with one sample a side, every way to draw them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from evals.judging.material import Material
from evals.judging.sides import against_reference
from evals.models.run import Comparison, ScorerInfo, Trial
from evals.models.sampling import Redraw


def redraws(material: Material, scorers: Sequence[ScorerInfo]) -> tuple[Redraw, ...]:
    """One entry per primary endpoint; none where every case was run once, or there is no reference to compare with.

    A draw is one sample of all the candidate's cases against one of all the reference's: with k samples k^2 draws,
    which share their samples and so are no k^2 independent ones.
    """
    suite = material.suite
    if suite.samples < 2 or not {suite.candidate, suite.reference} <= set(material.names):
        return ()
    primary = [scorer for scorer in scorers if scorer.primary]
    drawn = [item for trials in _draws(material) for item in _compared(replace(material, trials=trials), primary)]
    return tuple(
        Redraw(
            endpoint=scorer.name,
            draws=suite.samples**2,
            verdicts=Counter(item.verdict for item in drawn if item.endpoint == scorer.name),
        )
        for scorer in primary
    )


def _draws(material: Material) -> Iterator[tuple[Trial, ...]]:
    suite = material.suite
    for mine, theirs in product(range(suite.samples), repeat=2):
        wanted = {(suite.candidate, mine), (suite.reference, theirs)}
        yield tuple(trial for trial in material.trials if (trial.trace.variant, trial.trace.sample) in wanted)


def _compared(material: Material, primary: Sequence[ScorerInfo]) -> list[Comparison]:
    return [item for item in against_reference(material, primary) if item.left == material.suite.candidate]
