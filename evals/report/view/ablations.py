"""What each guard is good for: a row per guard left out, with what became of scores, ways and cost."""

from collections.abc import Sequence

from evals.divergence import divergences
from evals.models.run import Comparison, Run
from evals.report.numbers import MINUS, NOTHING, points, probability
from evals.report.view.table import Table

COSTS = {"cost.visits": "visits", "cost.llm_calls": "LLM calls"}


def ablation_table(run: Run) -> Table:
    """A row per guard that some variant lacks; no row where the suite leaves none out."""
    pairs = dict.fromkeys((item.left, item.right) for item in run.ablations)
    endpoints = dict.fromkeys(item.endpoint for item in run.ablations)
    found = {(item.left, item.right, item.endpoint): item for item in run.ablations}
    return Table(
        "Without the guard minus with it, in points [95 %], paired by case: negative ones say that the guard helps. "
        "p-values are one-sided for “worse”, adjusted by Holm over the whole table",
        ("left out", "its vetoes where it stands", "cases that go another way", *endpoints, *COSTS.values()),
        tuple(
            (
                _guard(run, left, right),
                _vetoes(run, _guard(run, left, right), right),
                _other_way(run, left, right),
                *(_cell(found[left, right, endpoint]) for endpoint in endpoints),
                *(_cost(run, left, right, scorer) for scorer in COSTS),
            )
            for left, right in pairs
        ),
    )


def _guard(run: Run, left: str, right: str) -> str:
    guards = {info.variant.name: info.variant.guards for info in run.variants}
    return guards[left].removeprefix(f"{guards[right]}-without-")


def _vetoes(run: Run, guard: str, variant: str) -> str:
    decisions = [
        decision for trial in run.trials if trial.trace.variant == variant for decision in trial.trace.decisions
    ]
    if not decisions:
        return NOTHING
    vetoes = sum(veto.guard == guard for decision in decisions for veto in decision.vetoes)
    return f"{vetoes} of {len(decisions)} decisions"


def _other_way(run: Run, left: str, right: str) -> str:
    both = _cases(run, left) & _cases(run, right)
    return f"{len(divergences(run.trials, left, right))} of {len(both)}" if both else NOTHING


def _cases(run: Run, variant: str) -> set[str]:
    return {trial.trace.case_id for trial in run.trials if trial.trace.variant == variant and trial.trace.decisions}


def _cell(item: Comparison) -> str:
    if item.delta is None:
        return "cannot judge: no case is scored under both"
    known = f" [{points(item.low)}, {points(item.high)}]" if item.low is not None else ""
    flips = f"{len(item.broke)} broke, {len(item.mended)} mended"
    return f"{points(item.delta)}{known}; {flips}; p {probability(item.p_holm)}; n={item.n}"


def _cost(run: Run, left: str, right: str, scorer: str) -> str:
    """The difference of the means, with the cases each is the mean of."""
    found = {item.variant: item for item in run.summaries if item.scorer == scorer}
    mine = [found[name] for name in (left, right) if name in found]
    means = [item.mean for item in mine if item.mean is not None]
    if len(means) < 2:
        return NOTHING
    return f"{_signed(means)} n={'/'.join(dict.fromkeys(str(item.n) for item in mine))}"


def _signed(means: Sequence[float]) -> str:
    difference = means[0] - means[1]
    return f"{difference:+,.1f}".replace("-", MINUS) if difference else "0"
