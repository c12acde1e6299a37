"""Where two variants part ways on a case: the first decision that differs, and what many such places have in common.

Up to the first differing decision both saw the same states, so that decision is the cause of everything that follows
and the rest is its consequence. A pure function of two traces.
"""

from collections import Counter
from collections.abc import Sequence

from evals.models.run import Divergence, Trial
from evals.models.trace import Trace


def divergences(trials: Sequence[Trial], left: str, right: str) -> tuple[Divergence, ...]:
    """One per case that both variants ran, in order of case; samples are paired, the first pair that differs counts.

    Cases whose decisions are the same throughout are left out.
    """
    ours, theirs = _by_case(trials, left), _by_case(trials, right)
    both = sorted(ours.keys() & theirs.keys())
    found: dict[str, Divergence] = {}
    for case, sample in both:
        parted = diverge(theirs[case, sample], ours[case, sample])
        if parted is not None:
            found.setdefault(case, parted)
    return tuple(found.values())


def diverge(was: Trace, now: Trace) -> Divergence | None:
    """The first decision at which `now` goes elsewhere than `was` did; None if it never does.

    A trace that has left the tape is compared as far as it reaches: beyond that nobody knows.
    """
    before, after = ([one.routed for one in trace.decisions] for trace in (was, now))
    same = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
    if same is None:
        short = min(len(before), len(after))
        if len(before) == len(after) or not _known_beyond(short, was, now):
            return None
        same = short
    old = before[same] if same < len(before) else None
    new = after[same] if same < len(after) else None
    return Divergence(
        case_id=now.case_id,
        left=now.variant,
        right=was.variant,
        decision=same,
        was=old,
        now=new,
        what=_in_words(old, new, before[same:], after[same:]),
    )


def clause(lost: Sequence[str], parted: Sequence[Divergence]) -> str:
    """What most of the lost cases have in common, as one clause; empty if no case is lost.

    `3 of 4 losses diverge at decision 2: critic skipped`, or without a place where the same thing happens in several.
    """
    if not lost:
        return ""
    known = [one for one in parted if one.case_id in lost]
    if not known:
        return f"no decision differs in the {_losses(len(lost))}: the reports do"
    what, _ = max(Counter(one.what for one in known).items(), key=lambda item: item[1])  # of equals, the first seen
    alike = [one for one in known if one.what == what]
    places = {one.decision for one in alike}
    where = f" diverge at decision {alike[0].decision + 1}:" if len(places) == 1 else ":"
    return f"{len(alike)} of {_losses(len(lost))}{where} {what}"


def _losses(count: int) -> str:
    return "1 loss" if count == 1 else f"{count} losses"


def _by_case(trials: Sequence[Trial], variant: str) -> dict[tuple[str, int], Trace]:
    return {
        (trial.trace.case_id, trial.trace.sample): trial.trace for trial in trials if trial.trace.variant == variant
    }


def _known_beyond(decisions: int, was: Trace, now: Trace) -> bool:
    """Whether the shorter of the two ended there by itself, and not where its tape did."""
    return all(trace.provenance.label == "exact" for trace in (was, now) if len(trace.decisions) == decisions)


def _in_words(was: str | None, now: str | None, before: Sequence[str], after: Sequence[str]) -> str:
    """What the difference amounts to, judged by the rest of both routes."""
    if was is None:
        return f"goes on to {now}"
    if now is None:
        return f"stops before {was}"
    if was not in after and was != "end":
        return f"{was} skipped"
    if now not in before and now != "end":
        return f"{now} added"
    return f"{now} before {was}"
