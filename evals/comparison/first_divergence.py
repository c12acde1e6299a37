"""First divergence between two variants on a case."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from evals.models.route_spec import Choice
from evals.models.run import Divergence, Trial
from evals.models.trace import Trace


@dataclass(frozen=True)
class Way:
    """Where the guards let each decision go; `whole` unless the tape ended before the trial did."""

    variant: str
    routed: tuple[Choice, ...]
    whole: bool


Against = Literal["reference", "baseline"]
Ways = Mapping[tuple[str, int], Way]
"""(case, sample) -> its way."""


def divergences(trials: Sequence[Trial], left: str, right: str) -> tuple[Divergence, ...]:
    """One per case that both variants ran, in order of case; samples are paired, the first pair that differs counts.

    Cases whose decisions are the same throughout are left out.
    """
    return _parted(_ways(trials, left), _ways(trials, right), "reference")


def baseline_divergences(
    trials: Sequence[Trial], variant: str, blessed: Mapping[str, Mapping[int, str]]
) -> tuple[Divergence, ...]:
    """Where a variant leaves the way it went when the baseline was blessed: case -> sample -> its decisions."""
    before = {
        (case, sample): Way(f"{variant} (baseline)", cast("tuple[Choice, ...]", tuple(routed.split())), whole=True)
        for case, samples in blessed.items()
        for sample, routed in samples.items()
    }
    return _parted(_ways(trials, variant), before, "baseline")


def diverge(was: Trace, now: Trace) -> Divergence | None:
    """The first decision at which `now` goes elsewhere than `was` did; None if it never does.

    A trace that has left the tape is compared as far as it reaches: beyond that nobody knows.
    """
    return _first(now.case_id, _way(was), _way(now), "reference")


def clause(lost: Sequence[str], parted: Sequence[Divergence]) -> str:
    """What most of the lost cases have in common, as one clause; empty if no case is lost.

    `3 of 4 worse cases diverge at decision 2: critic skipped`, or without a place where it happens in several.
    """
    if not lost:
        return ""
    known = [one for one in parted if one.case_id in lost]
    if not known:
        return f"no decision differs in the {_losses(len(lost))}: outputs do"
    what, _ = max(Counter(one.what for one in known).items(), key=lambda item: item[1])  # of equals, the first seen
    alike = [one for one in known if one.what == what]
    places = {one.decision for one in alike}
    parts = "diverges" if len(alike) == 1 else "diverge"
    where = f" {parts} at decision {alike[0].decision + 1}:" if len(places) == 1 else ":"
    return f"{len(alike)} of {_losses(len(lost))}{where} {what}"


def _losses(count: int) -> str:
    return "1 worse case" if count == 1 else f"{count} worse cases"


def _ways(trials: Sequence[Trial], variant: str) -> Ways:
    return {
        (trial.trace.case_id, trial.trace.sample): _way(trial.trace)
        for trial in trials
        if trial.trace.variant == variant
    }


def _way(trace: Trace) -> Way:
    return Way(trace.variant, tuple(one.routed for one in trace.decisions), trace.provenance.label == "exact")


def _parted(ours: Ways, theirs: Ways, against: Against) -> tuple[Divergence, ...]:
    found: dict[str, Divergence] = {}
    for case, sample in sorted(ours.keys() & theirs.keys()):
        parted = _first(case, theirs[case, sample], ours[case, sample], against)
        if parted is not None:
            found.setdefault(case, parted)
    return tuple(found.values())


def _first(case: str, was: Way, now: Way, against: Against) -> Divergence | None:
    before, after = was.routed, now.routed
    same = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), None)
    if same is None:
        same = min(len(before), len(after))
        known = all(way.whole for way in (was, now) if len(way.routed) == same)
        if len(before) == len(after) or not known:
            return None
    old = before[same] if same < len(before) else None
    new = after[same] if same < len(after) else None
    return Divergence(
        case_id=case,
        left=now.variant,
        right=was.variant,
        against=against,
        decision=same,
        was=old,
        now=new,
        what=_in_words(old, new, before[same:], after[same:]),
    )


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
    return f"{now} moved before {was}"
