"""The first divergence of a case up close: both answers side by side, both states, and what each was shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.divergence import diverge
from evals.models.run import Divergence, Run
from evals.models.trace import Trace
from evals.report.view.pools import Pools
from evals.report.view.prompt_diff import diff_lines
from evals.report.view.state_diff import StateDiff, state_diff
from evals.report.view.trial import Step, step_of

Traces = Mapping[tuple[str, int], Trace]
"""(variant, sample) -> what it did on the case."""


@dataclass(frozen=True)
class Side:
    """One variant at the decision; `step` is None where its way had ended."""

    variant: str
    went: str
    step: Step | None


@dataclass(frozen=True)
class DivergenceView:
    """`left` leaves the way of `right`. `cause` is the number of what differs between the two variants on every case,
    `shown` that of the line diff of what both were shown, empty where it was the same, word for word."""

    left: str
    right: str
    number: str
    what: str
    judged: bool
    sample: str
    sides: tuple[Side, Side]
    state: StateDiff
    shown: str
    knows_shown: bool
    cause: str


def divergence_views(run: Run, found: Sequence[Divergence], traces: Traces, pools: Pools) -> tuple[DivergenceView, ...]:
    """The divergences of one case, the candidate's first. `found` are those of this case."""
    views = [_view(run, item, traces, pools) for item in found]
    return tuple(sorted((view for view in views if view is not None), key=lambda view: not view.judged))


def _view(run: Run, item: Divergence, traces: Traces, pools: Pools) -> DivergenceView | None:
    """None where the trials of a stored run do not show the divergence it tells of."""
    pairs = (
        (was, now, sample)
        for (variant, sample), now in sorted(traces.items())
        if variant == item.left and (was := traces.get((item.right, sample))) is not None
    )
    for was, now, sample in pairs:
        parted = diverge(was, now)
        if parted is not None and parted.decision == item.decision:
            return _of(run, item, was, now, sample, pools)
    return None


def _of(run: Run, item: Divergence, was: Trace, now: Trace, sample: int, pools: Pools) -> DivergenceView:
    shown = [
        trace.decisions[item.decision].context if item.decision < len(trace.decisions) else "" for trace in (was, now)
    ]
    lines = tuple(diff_lines(*(text.splitlines() for text in shown))) if all(shown) else ()
    return DivergenceView(
        left=item.left,
        right=item.right,
        number=str(item.decision + 1),
        what=item.what,
        judged=item.left == run.candidate,
        sample=f"sample {sample + 1}" if sample else "",
        sides=(_side(was, item, item.was, pools), _side(now, item, item.now, pools)),
        state=state_diff(was, now, item.decision, pools.texts),
        shown=pools.changes.add(lines),
        knows_shown=all(shown),
        cause=pools.causes.add(item),
    )


def _side(trace: Trace, item: Divergence, went: str | None, pools: Pools) -> Side:
    reached = item.decision < len(trace.decisions)
    step = step_of(trace.decisions[item.decision], pools.texts) if reached else None
    return Side(trace.variant, went or "had ended", step)
