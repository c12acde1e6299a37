"""Where two runs of a case differ: the first diverging decision; without labels, steps, decisions and output."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from evals.errors import nearest_name
from evals.models.case import Choice
from evals.models.run import Baseline, Behaviour, BlessedBehaviour, CaseChange, Divergence, ScorerInfo, Trial
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.shared.display_text import counted, some


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


MOST_WORDS: Final = 5
"""A text of more words is free text."""
_SHOWN: Final = 60  # characters of a value
_MESSAGES: Final = frozenset({"human", "ai", "tool", "system"})
_NONE: Final = "(none)"
Fields = tuple[str, ...] | None
Behaviours = dict[str, dict[int, Behaviour]]
"""Case -> repeat -> what the trial did."""


def compares_behaviour(suite: Suite, metrics: Sequence[ScorerInfo]) -> bool:
    """Whether a suite is compared with its blessed run: it says so, or no metric decides."""
    return suite.as_blessed is not None or not any(info.primary for info in metrics)


def unknown_fields(fields: Fields, traces: Sequence[Trace]) -> tuple[str, ...]:
    """One sentence per field of `as_blessed` that no output has, unless the graph may yet give it: its member is in no
    output, or something on the way to it is empty."""
    given = {name for trace in traces for name in trace.output}
    to_come = {name for trace in traces for name in (trace.names.members if trace.names else ())} - given
    leaves = [leaf for trace in traces for leaf in _leaves(trace.output)] if fields else []
    empty = {name for path, value in leaves if value in (None, [], {}) for name in (path, _pattern(path))}
    paths = {path for path, _ in leaves}
    known = given | to_come | set(map(_pattern, paths))
    return tuple(
        f"as_blessed {field!r}: the output has no such field{nearest_name(field, known - {field})}"
        for field in fields or ()
        if known
        and re.split(r"[.\[]", field)[0] not in to_come
        and not _is_named(field, [*empty])
        and not any(_is_named(path, (field,)) for path in paths)
    )


def blessed_behaviour(suite: Suite, metrics: Sequence[ScorerInfo], trials: Sequence[Trial]) -> BlessedBehaviour | None:
    """What later runs are compared with; None where the suite is not compared so."""
    if not compares_behaviour(suite, metrics):
        return None
    exact = [trial.trace for trial in trials if trial.trace.provenance.label == "exact"]
    texts = {_pattern(path) for trace in exact for path, value in _leaves(trace.output) if _is_free_text(value)}
    free = () if suite.as_blessed is not None else tuple(sorted(texts))
    return BlessedBehaviour(fields=suite.as_blessed, free_text=free, trials=_behaviours(exact, suite.as_blessed, free))


def _behaviours(traces: Sequence[Trace], fields: Fields, free: Sequence[str]) -> dict[str, Behaviours]:
    """Variant -> case -> repeat -> what the trial did, of exact ones."""
    found: dict[str, Behaviours] = {}
    for trace in traces:
        if trace.provenance.label == "exact":
            cases = found.setdefault(trace.variant, {})
            cases.setdefault(trace.case_id, {})[trace.sample] = _behaviour(trace, fields, free)
    return found


@dataclass(frozen=True)
class Earlier:
    """What trials are compared with: those of the baseline; those of the variant `reference`, where it names one, in
    place of the candidate's."""

    behaviour: BlessedBehaviour
    routes: Mapping[str, Mapping[str, Mapping[int, str]]]
    """Variant -> case -> repeat -> where its decisions went."""
    candidate: str
    reference: str = ""

    def reference_of(self, variant: str) -> str:
        """The variant that it is compared with; empty where that is its own baseline."""
        return self.reference if variant == self.candidate else ""


def earlier_of(
    suite: Suite, metrics: Sequence[ScorerInfo], baseline: Baseline | None, trials: Sequence[Trial] = ()
) -> Earlier | None:
    """The trials of the baseline; for a candidate that it has none of, those of the reference among `trials`, if no
    metric decides. None where nothing is compared so, or the baseline cannot be."""
    candidate, reference = suite.candidate, suite.reference
    blessed = baseline.behaviour if baseline else None
    if not compares_behaviour(suite, metrics) or (baseline and (not blessed or blessed.fields != suite.as_blessed)):
        return None
    held, before = (blessed.trials, baseline.routes) if baseline and blessed else ({}, {})
    theirs = [trial for trial in trials if trial.trace.variant == reference]
    behaviour = blessed or blessed_behaviour(suite, metrics, theirs)
    if candidate in held or candidate == reference or any(info.primary for info in metrics) or not theirs:
        return Earlier(blessed, before, candidate) if blessed else None
    if behaviour is None:
        return None
    routes: dict[str, dict[int, str]] = {}
    for trial in theirs:
        routes.setdefault(trial.trace.case_id, {})[trial.trace.sample] = _routed(trial.trace)
    found = _behaviours([trial.trace for trial in theirs], behaviour.fields, behaviour.free_text)
    behaviour = behaviour.model_copy(update={"trials": {**held, candidate: found.get(reference, {})}})
    return Earlier(behaviour, {**before, candidate: routes}, candidate, reference)


def changes_of(earlier: Earlier | None, names: Sequence[str], trials: Sequence[Trial]) -> tuple[CaseChange, ...]:
    """Every change of an exact trial against the earlier one, by variant and case; of several repeats, the first that
    differs is told."""
    if earlier is None:
        return ()
    blessed = earlier.behaviour
    found: dict[tuple[str, str, str], CaseChange] = {}
    for trace in sorted((trial.trace for trial in trials), key=lambda one: (one.case_id, one.sample)):
        was = blessed.trials.get(trace.variant, {}).get(trace.case_id, {}).get(trace.sample)
        if was is None or trace.provenance.label != "exact":
            continue
        now = _behaviour(trace, blessed.fields, blessed.free_text)
        went = earlier.routes.get(trace.variant, {}).get(trace.case_id, {}).get(trace.sample, "")
        asked = [
            (f"decision point {name}", was.points[name], now.points[name]) for name in was.points if name in now.points
        ]
        pairs = [("steps", was.steps, now.steps), ("decisions", went, _routed(trace)), *asked]
        pairs += _fields(was.output, now.output)
        for what, before, after in pairs:
            if before != after:
                name, other = trace.variant, earlier.reference_of(trace.variant)
                change = CaseChange(
                    case_id=trace.case_id, variant=name, what=what, was=before, now=after, reference=other
                )
                found.setdefault((name, trace.case_id, what), change)
    return tuple(change for name in names for change in found.values() if change.variant == name)


def _routed(trace: Trace) -> str:
    return " ".join(one.routed for one in trace.decisions)


def compared_words(earlier: Earlier) -> str:
    """What the candidate was compared in, where nothing differs: `nothing changed since the baseline in 3 cases (steps,
    decisions)`; empty where it was not."""
    blessed = earlier.behaviour
    cases = blessed.trials.get(earlier.candidate, {})
    if not cases:
        return ""
    stored = (path for samples in cases.values() for one in samples.values() for path in one.output)
    fields = blessed.fields if blessed.fields is not None else sorted({_pattern(path) for path in stored})
    output = f", output: {', '.join(fields)}" if fields else ""
    same = f"differs from {earlier.reference}" if earlier.reference else "changed since the baseline"
    return f"nothing {same} in {counted(len(cases), 'case')} (steps, decisions{output})"


def change_sentences(changes: Sequence[CaseChange], earlier: Earlier) -> tuple[str, ...]:
    """One sentence per variant: how many cases changed, in what, and which."""
    said = []
    for name in dict.fromkeys(change.variant for change in changes):
        reference = earlier.reference_of(name)
        mine = [change for change in changes if change.variant == name]
        cases = list(dict.fromkeys(change.case_id for change in mine))
        of = len(earlier.behaviour.trials.get(name, {}))
        counts = Counter(what for _, what in {(change.case_id, _pattern(change.what)) for change in mine})
        what = ", ".join(f"{each} {count}" for each, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
        did, since = (f"differs from {reference}", "") if reference else ("changed", " since the baseline")
        said.append(f"{name} {did} in {len(cases)} of {of} cases{since} ({what}): {some(cases)}")
    return tuple(said)


def _behaviour(trace: Trace, fields: Fields, free_text: Sequence[str]) -> Behaviour:
    by_superstep: dict[int, list[str]] = {}
    for visit in trace.steps:
        by_superstep.setdefault(visit.superstep, []).append(visit.node)
    return Behaviour(
        steps=" ".join("+".join(sorted(names)) for _, names in sorted(by_superstep.items())),
        output={
            path: value
            for path, value in _leaves(trace.output)
            if (_is_named(path, fields) if fields is not None else _pattern(path) not in free_text)
        },
        points=trace.choices,
    )


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    """The values of an output that are no mapping or list, or an empty one, with their paths; without messages."""
    if isinstance(value, dict) and value.get("type") in _MESSAGES and "content" in value:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}[{place}]")
    if path and (value in ({}, []) or not isinstance(value, dict | list)):
        yield path, value


def _fields(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for path in sorted({*was, *now}, key=lambda path: (path in now, path)):
        before, after = (_shown(side[path]) if path in side else _NONE for side in (was, now))
        values = [(side[path], isinstance(side[path], bool)) for side in (was, now) if path in side]  # 1 is not true
        if len(values) < 2 or values[0] != values[1]:
            yield f"output.{path}", before, after


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _pattern(path: str) -> str:
    """The path of a field in all items of a list."""
    return re.sub(r"\[\d+\]", "[]", path)


def _is_free_text(value: object) -> bool:
    return isinstance(value, str) and (len(value.split()) > MOST_WORDS or "\n" in value.strip())


def _is_named(path: str, fields: Sequence[str]) -> bool:
    inside = [(f"{field}.", f"{field}[") for field in fields]
    return any(each in fields or any(map(each.startswith, inside)) for each in (path, _pattern(path)))
