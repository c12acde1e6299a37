"""The first divergence of a case up close: both answers side by side, both states, and what each was shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.judging.divergence import diverge
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
    """One variant at the decision; without a `step` there is a `note` that says why."""

    variant: str
    went: str
    step: Step | None
    note: str


@dataclass(frozen=True)
class DivergenceView:
    """`left` leaves the way of `right`, a variant or a baseline; `name` tells the divergences of one case apart.

    `cause` is the number of what differs between the two on every case, `shown` that of the line diff of what both were
    shown; empty where `unshown` says why there is none. `state` is None where only one of them is known.
    """

    name: str
    left: str
    right: str
    number: str
    what: str
    judged: bool
    sample: str
    sides: tuple[Side, Side]
    state: StateDiff | None
    shown: str
    unshown: str
    cause: str


def divergence_views(run: Run, found: Sequence[Divergence], traces: Traces, pools: Pools) -> tuple[DivergenceView, ...]:
    """The divergences of one case, the candidate's first. `found` are those of this case."""
    views = [_view(run, item, traces, pools) for item in found]
    return tuple(sorted((view for view in views if view is not None), key=lambda view: not view.judged))


def name_of(item: Divergence) -> str:
    """What links call it: the variant that leaves the reference, or the baseline that is left."""
    return item.left if item.against == "reference" else item.right


def _view(run: Run, item: Divergence, traces: Traces, pools: Pools) -> DivergenceView | None:
    """None where the trials of a stored run do not show the divergence it tells of."""
    mine = [(sample, trace) for (variant, sample), trace in sorted(traces.items()) if variant == item.left]
    if item.against == "baseline":
        now = next((trace for _, trace in mine if len(trace.decisions) >= item.decision), None)
        return None if now is None else _of(run, item, None, now, pools)
    for sample, now in mine:
        was = traces.get((item.right, sample))
        parted = diverge(was, now) if was is not None else None
        if parted is not None and parted.decision == item.decision:
            return _of(run, item, was, now, pools)
    return None


def _of(run: Run, item: Divergence, was: Trace | None, now: Trace, pools: Pools) -> DivergenceView:
    shown, unshown = _shown(item, was, now, pools)
    return DivergenceView(
        name=name_of(item),
        left=item.left,
        right=item.right,
        number=str(item.decision + 1),
        what=item.what,
        judged=item.left == run.candidate,
        sample=f"sample {now.sample + 1}" if now.sample else "",
        sides=(_side(was, item.right, item, item.was, pools), _side(now, item.left, item, item.now, pools)),
        state=None if was is None else state_diff(was, now, item.decision, pools.texts),
        shown=shown,
        unshown=unshown,
        cause=pools.causes.add(item),
    )


def _shown(item: Divergence, was: Trace | None, now: Trace, pools: Pools) -> tuple[str, str]:
    """The number of the line diff of what both were shown, or why there is none."""
    if was is None:
        return "", "A baseline keeps where decisions went, not what they were shown."
    messages = [
        trace.decisions[item.decision].context if item.decision < len(trace.decisions) else "" for trace in (was, now)
    ]
    if not all(messages):
        return "", "Not recorded for both: one of them asks no model, or had ended."
    number = pools.changes.add(tuple(diff_lines(*(message.splitlines() for message in messages))))
    return number, "" if number else "The same message, word for word."


def _side(trace: Trace | None, name: str, item: Divergence, went: str | None, pools: Pools) -> Side:
    if trace is None:
        return Side(name, went or "had ended", None, "A baseline keeps where it went, not what it said.")
    if item.decision >= len(trace.decisions):
        return Side(name, "had ended", None, "Its way had ended before this decision.")
    return Side(name, went or "had ended", step_of(trace.decisions[item.decision], pools.texts), "")
