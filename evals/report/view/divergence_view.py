"""First divergence of a case: both answers and both states side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

from evals.application_pack import Pack, load_pack
from evals.comparison.divergences import diverge
from evals.models.run import Comparison, Divergence, Run
from evals.models.trace import Finding, Trace, Visit
from evals.report.numbers import percent
from evals.report.recorded_calls import NONE, Recorded, TrialCalls
from evals.report.view.page_parts import ListLink, Lists, Pool, Texts
from evals.report.view.plan_graph import Pictures
from evals.report.view.trial_view import CallView, TrialStep, call_view, run_letters, step_of, visits_by_decision
from evals.report.view.variant_diff import Causes, DiffLine, diff_lines, prompt_diffs
from evals.report.view.violations_table import RuleSheets

ABSENT = "none"


class Field(NamedTuple):
    """One field of both states; `was` and `now` are numbers of texts."""

    name: str
    was: str
    now: str


@dataclass(frozen=True)
class StateDiff:
    """Fields that differ, and those that do not."""

    differ: tuple[Field, ...]
    alike: tuple[Field, ...]


def state_diff(was: Trace, now: Trace, decision: int, texts: Texts) -> StateDiff:
    """Both states before the decision with that index (from 0)."""
    old, new = state_fields(was, decision), state_fields(now, decision)
    fields = [
        (name, old.get(name, ABSENT), new.get(name, ABSENT)) for name in dict.fromkeys((*old, *new))
    ]  # in the order of the first, what only the second has behind it

    def some(*, alike: bool) -> tuple[Field, ...]:
        return tuple(
            Field(name, texts.add(before), texts.add(after))
            for name, before, after in fields
            if (before == after) == alike
        )

    return StateDiff(some(alike=False), some(alike=True))


def state_fields(trace: Trace, decision: int) -> dict[str, str]:
    """The recorded state before that decision: the way so far, what it brought, what was asked and answered."""
    before = trace.decisions[:decision]
    visits = [visit for group in visits_by_decision(trace)[: decision + 1] for visit in group]
    asked = sum(visit.node == load_pack().asking_node for visit in visits)
    fields = {
        "steps so far": " → ".join(visit.node for visit in visits) or ABSENT,
    }
    if any(one.confidence is not None for one in trace.decisions):
        fields["confidence stated last"] = percent(before[-1].confidence) if before else ABSENT
    for number, (visit, found) in enumerate(_found(visits), start=1):
        fields[f"finding {number} ({visit.node})"] = _told(found)
    for number, visit in enumerate(visits, start=1):
        if visit.error:
            fields[f"step {number} ({visit.node}) failed"] = visit.error
    for number, exchange in enumerate(trace.exchanges[:asked], start=1):
        fields[f"question {number}"] = f"{exchange.question}\n{exchange.answer}"
    return fields


def _found(visits: list[Visit]) -> list[tuple[Visit, Finding]]:
    return [(visit, found) for visit in visits for found in visit.findings]


def _told(found: Finding) -> str:
    parts = (found.summary, f"confidence {percent(found.confidence)}", ", ".join(found.relevant_files), found.details)
    return "\n".join(part for part in parts if part)


Changes = Pool[tuple[DiffLine, ...]]
"""Line diffs: cases of one pair mostly differ alike."""


@dataclass(frozen=True)
class Pools:
    """One pool of each kind, and the letters of nodes."""

    letters: Mapping[str, str]
    texts: Texts
    pictures: Pictures
    changes: Changes
    causes: Causes
    sheets: RuleSheets
    calls: TrialCalls


def pools_for(run: Run, pack: Pack | None = None, recorded: Recorded = NONE) -> Pools:
    """Empty pools for the page of a run."""
    causes = Causes(run, prompt_diffs(run))
    calls = TrialCalls(run, recorded)
    return Pools(run_letters(run, pack), Texts(), Pictures(), Changes(), causes, RuleSheets(), calls)


Traces = Mapping[tuple[str, int], Trace]
"""(variant, sample) -> what it did on the case."""


@dataclass(frozen=True)
class Side:
    """One variant at the decision; without a `step` there is a `note` that says why. `call` is the request that it
    rests on, where that is known."""

    variant: str
    went: str
    step: TrialStep | None
    note: str
    call: CallView | None = None


def divergence_views(
    run: Run, found: Sequence[Divergence], traces: Traces, pools: Pools
) -> tuple[SimpleNamespace, ...]:
    """The divergences of one case, the candidate's first. `found` are those of this case."""
    views = [_view(run, item, traces, pools) for item in found]
    return tuple(sorted((view for view in views if view is not None), key=lambda view: not view.judged))


def name_of(item: Divergence) -> str:
    """What links call it: the variant that leaves the reference, or the baseline that is left."""
    return item.left if item.against == "reference" else item.right


def _view(run: Run, item: Divergence, traces: Traces, pools: Pools) -> SimpleNamespace | None:
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


def _of(run: Run, item: Divergence, was: Trace | None, now: Trace, pools: Pools) -> SimpleNamespace:
    """`left` first differs from `right`, a variant or a baseline; `name` tells the divergences of one case apart.

    `cause` is the number of what differs between the two on every case, `shown` that of the line diff of what both were
    shown; empty where `unshown` says why there is none. `state` is None where only one of them is known.
    """
    shown, unshown = _shown(item, was, now, pools)
    return SimpleNamespace(
        name=name_of(item),
        left=item.left,
        right=item.right,
        number=str(item.decision + 1),
        what=item.what,
        judged=item.left == run.candidate,
        sample=f"repeat {now.sample + 1}" if now.sample else "",
        sides=(_side(was, item.right, item, item.was, pools), _side(now, item.left, item, item.now, pools)),
        state=None if was is None else state_diff(was, now, item.decision, pools.texts),
        shown=shown,
        unshown=unshown,
        cause=pools.causes.cause_of(item),
    )


def _shown(item: Divergence, was: Trace | None, now: Trace, pools: Pools) -> tuple[str, str]:
    """The number of the line diff of what both were shown, or why there is none."""
    if was is None:
        return "", "A baseline keeps where decisions went, not what they were shown."
    messages = [_message(trace, item.decision, pools) for trace in (was, now)]
    if not all(messages):
        return "", "Not known of both: their system prompts and answers stand below."
    lines = tuple(diff_lines(*(message.splitlines() for message in messages)))
    return (pools.changes.add(lines), "") if lines else ("", "The same message, word for word.")


def _message(trace: Trace, decision: int, pools: Pools) -> str:
    """What the model was shown before that decision, without the system prompt."""
    if decision >= len(trace.decisions):
        return ""
    found = pools.calls.of_decision(trace, decision)
    return trace.decisions[decision].context or (found[1].shown if found else "")


def _side(trace: Trace | None, name: str, item: Divergence, went: str | None, pools: Pools) -> Side:
    if trace is None:
        return Side(name, went or "had ended", None, "A baseline keeps where it went, not what it said.")
    if item.decision >= len(trace.decisions):
        return Side(name, "had ended", None, "It had ended before this decision.")
    found = pools.calls.of_decision(trace, item.decision)
    call = call_view(*found, pools.texts) if found else None
    return Side(name, went or "had ended", step_of(trace.decisions[item.decision], pools.texts), "", call)


SHOWN = 4
"""Cases the verdict links to by name."""


@dataclass(frozen=True)
class DivergenceRow:
    """`cases` of one variant that first differ from another, or from its baseline, in one way; `worse` and `better` are
    those of them that fell or rose on a metric that rests on routes."""

    variant: str
    right: str
    number: str
    what: str
    cases: ListLink
    worse: ListLink
    better: ListLink
    judged: bool

    @property
    def flips(self) -> int:
        """Cases that got worse or better."""
        return int(self.worse.text) + int(self.better.text)


@dataclass(frozen=True)
class Lead:
    """Where to look first: a list of cases in words, and the first of them; `which`: they got worse, or better."""

    told: ListLink
    which: str
    case_ids: tuple[str, ...]
    more: str


def divergence_rows(run: Run, lists: Lists) -> tuple[DivergenceRow, ...]:
    """The candidate's first, then by how many cases got worse or better, and how many they are about."""
    groups: dict[tuple[str, str, int, str], list[str]] = {}
    for item in run.divergences:
        groups.setdefault((item.left, item.right, item.decision, item.what), []).append(item.case_id)
    rows = [_row(run, *key, cases, lists) for key, cases in groups.items()]
    return tuple(sorted(rows, key=_order_of_row))


def _row(
    run: Run, left: str, right: str, decision: int, what: str, cases: Sequence[str], lists: Lists
) -> DivergenceRow:
    where = f"First divergence of {left} from {right} at decision {decision + 1}: {what}"
    worse, better = (sorted(set(cases) & flipped) for flipped in _flipped(run, left, right))
    return DivergenceRow(
        variant=left,
        right=right,
        number=str(decision + 1),
        what=what,
        cases=lists.link(str(len(cases)), where, cases),
        worse=lists.link(str(len(worse)), f"{where}; worse", worse),
        better=lists.link(str(len(better)), f"{where}; better", better),
        judged=left == run.candidate,
    )


def _order_of_row(row: DivergenceRow) -> tuple[bool, str, str, int, int, int]:
    return not row.judged, row.variant, row.right, -row.flips, -int(row.cases.text), int(row.number)


def _flipped(run: Run, left: str, right: str) -> tuple[set[str], set[str]]:
    """Cases that got worse, and better; a metric of decision points rests on no route."""
    routed = {info.name for info in run.scorers if not info.open_loop}
    mine = [item for item in run.comparisons if (item.left, item.right) == (left, right) and item.endpoint in routed]
    return {case for item in mine for case in item.broke}, {case for item in mine for case in item.mended}


def leads(run: Run, lists: Lists) -> tuple[Lead, ...]:
    """What the verdict links to, by metric: what got worse and better of all that is judged; else where the candidate
    decided otherwise."""
    judged = [
        item
        for item in run.comparisons
        if item.broke or (item.mended and item.against == "reference")
        if item.against == "baseline" or item.left == run.candidate
    ]
    known = {case.id for case in run.cases}
    found = [
        _lead(
            _counted(item),
            "worse" if item.broke else "better",
            item.broke or item.mended,
            _parted(run, item.left, item.right),
            lists,
        )
        for item in judged
        if known.issuperset(item.broke)
    ]
    if found:
        return tuple(found)
    ways = dict.fromkeys(item.right for item in run.divergences if item.left == run.candidate)
    return tuple(_elsewhere(run, right, lists) for right in ways)


def _parted(run: Run, left: str, right: str) -> list[str]:
    return [item.case_id for item in run.divergences if (item.left, item.right) == (left, right)]


def _elsewhere(run: Run, right: str, lists: Lists) -> Lead:
    parted = _parted(run, run.candidate, right)
    told = f"{run.candidate} decides otherwise than {right} in {len(parted)} of {len(run.cases)} cases"
    return _lead(told, "", parted, parted, lists)


def _counted(item: Comparison) -> str:
    clause = f" ({item.divergence})" if item.divergence else ""
    better = f"{len(item.mended)} case{'s' * (len(item.mended) != 1)} better"
    return f"{item.endpoint}: {better}, {len(item.broke)} worse than {item.right}{clause}"


def _lead(told: str, which: str, cases: Sequence[str], parted: Sequence[str], lists: Lists) -> Lead:
    """The cases that can be explained come first."""
    first = sorted(cases, key=lambda case: case not in parted)
    more = f"and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
    return Lead(lists.link(told, f"{told}; {which}" if which else told, cases), which, tuple(first[:SHOWN]), more)
