"""The gate: an ordered table of rules from facts to a verdict and an exit code. A pure function."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from pydantic import Field

from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE
from evals.models.base import Closed
from evals.models.run import Comparison, CostChange, Coverage, Reason, ReasonKind, Verdict
from evals.models.suite import GatePolicy
from evals.shared.display_text import counted

COSTS: Final = {
    "tokens": ("tokens", "more tokens", "fewer tokens"),
    "calls": ("LLM calls", "more LLM calls", "fewer LLM calls"),
    "price": ("USD", "higher price", "lower price"),
    "steps": ("steps", "more steps", "fewer steps"),
    "recorded_time": ("s of recorded time", "more recorded time", "less recorded time"),
}
"""Name in `gate.cost` -> its unit, and how a sentence calls a rise and a fall."""


class Facts(Closed):
    """What the gate is told. Each tuple of sentences is empty when there is nothing to say."""

    candidate: str
    reference: str
    record_command: str
    policy: GatePolicy
    coverage: dict[str, Coverage]
    judged: tuple[Comparison, ...]
    blessed: tuple[str, ...] = ()
    """Variants that their baseline decides of, whether any metric does or not."""
    failures: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    unread_labels: tuple[str, ...] = ()
    labelled: bool = True
    """Whether any metric decides."""
    as_blessed: str = ""
    """What was compared with the blessed run, where the suite is compared so."""
    since_blessed: tuple[str, ...] = ()
    next_step: str = ""
    """What to type where something changed."""
    incomparable: tuple[str, ...] = ()
    missing_baseline: tuple[str, ...] = ()
    must_pass_broken: tuple[str, ...] = ()
    must_pass_unknown: tuple[str, ...] = ()
    """Cases that must pass and that the candidate has no score for."""
    new_violations: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    collapsed: tuple[str, ...] = ()
    within_chance: tuple[str, ...] = ()
    """Hard constraints and slices that were lost in too few cases to tell from chance; a green names them."""
    unanswered: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Variant -> (decision points nobody recorded, decision points)."""
    changed: dict[str, str] = Field(default_factory=dict)
    """Variant -> what is asked in place of what was recorded, for most of its misses."""
    unblessed: tuple[str, ...] = ()
    """Why the suite's baseline was not looked at, where it was not."""
    lost: tuple[str, ...] = ()
    """Primary metrics that have fewer values than they had, though everything is recorded."""
    models: tuple[str, ...] = ()
    """Where two sides that are compared were answered by different models."""
    fell: tuple[str, ...] = ()
    """Large falls of other metrics, the largest first: told, and without a say."""
    costs: tuple[CostChange, ...] = ()
    unasked: str = ""
    """That no answer still missing could change the verdict; empty where it could, or where none is missing."""
    limits: tuple[str, ...] = ()
    """Which variants decide nothing in this run, and what the candidate was not compared with."""
    notes: tuple[str, ...] = ()


Rule = Callable[[Facts], list[Reason]]
_UNLABELLED: Final = "no case has a label, and no baseline is compared; write `expected:`, or run and bless the suite"


def nothing_to_judge(facts: Facts) -> list[Reason]:
    """No trial, no exact trial of the candidate, or no endpoint that was scored, is never green."""
    mine = facts.coverage.get(facts.candidate)
    if mine is None or mine.total == 0:
        return [Reason(kind="nothing to judge", text=f"no trial of {facts.candidate} was run")]
    if mine.exact == 0:
        return [Reason(kind="nothing to judge", text=f"no trial of {facts.candidate} is fully recorded")]
    why = ""
    if not facts.labelled:
        why = "" if facts.as_blessed or facts.missing_baseline or facts.incomparable else _UNLABELLED
    elif facts.candidate == facts.reference:  # the suite has one variant: its baseline is all there is to compare with
        if any(item.against == "baseline" for item in facts.judged) and not any(item.n for item in facts.judged):
            why = "no case of the baseline was scored"
    elif not any(item.n for item in facts.judged if item.against == "reference"):
        why = "no case was scored under both variants"
    return [Reason(kind="nothing to judge", text=why)] if why else []


def coverage_too_low(facts: Facts) -> list[Reason]:
    """Each judged variant must be recorded for the share of trials, and of decision points, the policy demands; and
    the candidate for every case that must pass."""
    reasons = []
    for name in dict.fromkeys((facts.candidate, facts.reference, *facts.blessed)):
        mine = facts.coverage.get(name)
        if mine is not None and facts.unasked:
            continue
        lost = [f"{missed} of {mine.total} trials"] if mine and (missed := _unrecorded(mine, facts)) else []
        unanswered, points = facts.unanswered.get(name, (0, 0))
        lost += [f"{unanswered} of {points} decision points"] if _short(points - unanswered, points, facts) else []
        if lost:
            cause = f" ({facts.changed[name]})" if name in facts.changed else ""
            text = f"{name} lost coverage in {' and '.join(lost)}{cause}; record them with `{facts.record_command}`"
            reasons.append(Reason(kind="coverage too low", text=text))
        elif mine is None:
            reasons.append(Reason(kind="coverage too low", text=f"{name} was not run"))
    unknown = [f"{case} must pass, and {facts.candidate} has no score for it" for case in facts.must_pass_unknown]
    return [*reasons, *(Reason(kind="coverage too low", text=text) for text in unknown)]


def _unrecorded(mine: Coverage, facts: Facts) -> int:
    """Trials without a result, where they are too many; failed ones are left out if their cause is told already, since
    recording would not mend them.
    """
    told = mine.failed if facts.failures else 0
    return mine.total - mine.exact - told if _short(mine.exact, mine.total, facts) else 0


def _short(known: int, total: int, facts: Facts) -> bool:
    return total > 0 and known / total < facts.policy.coverage_floor


def equivalence_not_shown(facts: Facts) -> list[Reason]:
    """With `require: equivalence`, an inconclusive endpoint is not enough."""
    if facts.policy.require != "equivalence":
        return []
    shown = ("equivalent within margin", "improvement", "regression")
    return [
        Reason(
            kind="equivalence not shown", text=f"{item.endpoint} of {item.left} against {item.right} is {item.verdict}"
        )
        for item in facts.judged
        if item.verdict not in shown
    ]


def regressions(facts: Facts) -> list[Reason]:
    """An endpoint is worse beyond chance."""
    return [
        Reason(kind="regression", text=comparison_sentence(item))
        for item in facts.judged
        if item.verdict == "regression"
    ]


def cost_limits(facts: Facts) -> list[Reason]:
    """A cost is above its limit beyond chance: the whole 95 % interval is."""
    over = [item for item in facts.costs if item.bound is not None and item.low is not None and item.low > item.bound]
    gain = "" if any(item.verdict == "improvement" for item in facts.judged) else ", for no gain"
    return [Reason(kind="cost limit", text=f"{_cost_over_limit(item)}{gain}") for item in over]


def cost_unknown(facts: Facts) -> list[Reason]:
    """A limited cost is not known for every case that the candidate finished, or is a share of nothing."""
    without = [item for item in facts.costs if item.limit is not None and (item.missing or item.size is None)]
    return [
        Reason(
            kind="nothing to judge",
            text=f"gate.cost limits {item.name}, unknown in {item.missing} of {item.n + item.missing} cases"
            if item.missing
            else f"gate.cost limits {item.name} to a share of what {item.right} has, and that is 0",
        )
        for item in without
    ]


def unweighable(facts: Facts) -> list[Reason]:
    """An endpoint fell where not even losing everything would have been significant: nobody can say what it means."""
    return [
        Reason(
            kind="cannot be weighed",
            text=f"{comparison_sentence(item)}; here not even losing every case would be significant",
        )
        for item in facts.judged
        if item.delta is not None and item.delta < 0 and item.minimum_detectable is None
    ] + [
        Reason(kind="cannot be weighed", text=f"{_cost_over_limit(item)}; too few cases for an interval")
        for item in facts.costs
        if item.bound is not None and item.low is None and item.size is not None and item.size > item.bound
    ]


def _rule_from(kind: ReasonKind, sentences: Callable[[Facts], Sequence[str]]) -> Rule:
    """A rule whose reasons are sentences of the facts as they stand."""
    return lambda facts: [Reason(kind=kind, text=text) for text in sentences(facts)]


changed: Final = _rule_from("changed", lambda facts: facts.since_blessed)
"""Steps, decisions or output are not as blessed: whether that is worse, no label says."""


CANNOT_JUDGE: Final[tuple[Rule, ...]] = (
    # A scorer or trial that broke leaves a hole in the numbers.
    _rule_from("failed", lambda facts: facts.failures),
    # A label names nothing that the graph has: its check could only ever fail, or never.
    _rule_from("unread label", lambda facts: facts.unread_labels),
    # A part of a suite is not the suite.
    _rule_from("partial run", lambda facts: facts.partial),
    coverage_too_low,
    # A primary metric has no value any more where it had one: what cannot fall is no proof that nothing fell.
    _rule_from("metric lost", lambda facts: facts.lost),
    nothing_to_judge,
    # Other models answered than on the other side, so that a difference need not be the prompt's or the code's.
    _rule_from("different models", lambda facts: facts.models),
    # The baseline was made from another dataset, other scorers or another graph.
    _rule_from("not comparable", lambda facts: facts.incomparable),
    # The first run of a suite, or of its reference, has nothing to be compared with.
    _rule_from("no baseline", lambda facts: facts.missing_baseline),
    cost_unknown,
    equivalence_not_shown,
)
WORSE: Final[tuple[Rule, ...]] = (
    # A case that must pass does not.
    _rule_from("must-pass broken", lambda facts: facts.must_pass_broken),
    # Injected text reached an output where the baseline kept it out.
    _rule_from("canary leaked", lambda facts: facts.leaks),
    # A hard constraint is newly violated, with the same answers or in too many cases for chance.
    _rule_from("new hard violation", lambda facts: facts.new_violations),
    # No case of a slice passes any more, with the same answers or in too many cases for chance.
    _rule_from("slice collapsed", lambda facts: facts.collapsed),
    regressions,
    cost_limits,
)
DOUBTFUL: Final[tuple[Rule, ...]] = (unweighable,)
"""Asked last: they only keep a run from being green."""


def decide(facts: Facts) -> Verdict:
    """The verdict, with every reason that speaks for it; notes follow and decide nothing."""
    unjudgeable = _reasons(CANNOT_JUDGE, facts)
    worse = _reasons(WORSE, facts)
    doubtful = _reasons(DOUBTFUL, facts)
    if doubtful and not worse:
        unjudgeable += doubtful
    told = (*facts.limits, *([facts.unasked] if facts.unasked else []), *facts.misses, *facts.notes)
    notes = [Reason(kind="note", text=text) for text in told]
    if unjudgeable:
        return Verdict(
            status="cannot judge",
            exit_code=EXIT_CANNOT_JUDGE,
            sentence=f"Cannot judge {facts.candidate}: {unjudgeable[0].text}{_more(unjudgeable)}"
            f"{_beside_no_baseline(facts, unjudgeable, worse)}.",
            reasons=(*unjudgeable, *worse, *changed(facts), *notes),
        )
    if worse:
        return Verdict(
            status="worse",
            exit_code=EXIT_WORSE,
            sentence=_red_sentence(facts, worse),
            reasons=(*worse, *changed(facts), *notes),
        )
    if facts.since_blessed:
        differing = changed(facts)
        return Verdict(
            status="changed",
            exit_code=EXIT_CANNOT_JUDGE,
            sentence=f"{differing[0].text}{_more(differing)}; {facts.next_step}.",
            reasons=(*differing, *notes),
        )
    fell = [Reason(kind="note", text=f"outside the primary metrics: {text}") for text in facts.fell]
    return Verdict(status="not worse", exit_code=EXIT_OK, sentence=_green_sentence(facts), reasons=(*fell, *notes))


def _reasons(rules: Sequence[Rule], facts: Facts) -> list[Reason]:
    return [reason for rule in rules for reason in rule(facts)]


def _more(reasons: Sequence[object]) -> str:
    return f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""


def _beside_no_baseline(facts: Facts, unjudgeable: Sequence[Reason], worse: Sequence[Reason]) -> str:
    """Where the advice is to bless, what would be blessed with it: a loss is never left to the lines below."""
    if not worse or any(reason.kind != "no baseline" for reason in unjudgeable):
        return ""
    return f"; before that, see what is lost: {_red_sentence(facts, worse).rstrip('.')}"


def _red_sentence(facts: Facts, worse: Sequence[Reason]) -> str:
    """Who is worse than whom, by how much, and what the losses have in common. A broken rule is told before numbers,
    in its own words: it may be another variant's than the candidate's."""
    lost = [item for item in facts.judged if item.verdict == "regression"]
    told_by_numbers = ("regression", "slice collapsed") if lost else ()
    broken = [reason for reason in worse if reason.kind not in told_by_numbers]
    unasked = f"; {facts.unasked}" if facts.unasked else ""
    if not broken:
        return f"{lost[0].left} is worse than {lost[0].right}: {_change(lost[0])}{_more(worse)}{unasked}."
    change = f"; {comparison_sentence(lost[0])}{_more(lost)}" if lost else ""
    return f"Worse: {broken[0].text}{_more(broken)}{change}{unasked}."


def _green_sentence(facts: Facts) -> str:
    """What changed significantly, what did not, the smallest drop that is detected, and what fell all the same."""
    unchanged = [facts.as_blessed] if facts.as_blessed else []
    if unchanged and not facts.labelled:
        told = [f"{facts.candidate}: {unchanged[0]}", *facts.limits]
        return f"{'; '.join(told)}."
    alone = facts.candidate == facts.reference  # the suite has one variant
    against = [item for item in facts.judged if item.against == ("baseline" if alone else "reference")]
    if not against:
        return f"{facts.candidate}: nothing to compare with yet."
    stated = [] if facts.unasked else against  # missing answers may undo a gain, though they make nothing worse
    better = [item for item in stated if item.verdict == "improvement"]
    same = [item for item in stated if item.n and item.verdict == "equivalent within margin"]
    rest = [item for item in stated if item.n and item.verdict == "inconclusive"]
    verb = "is better than" if better else "is not shown to be worse than"
    other = "its baseline" if alone else facts.reference
    said = [f"{facts.candidate} {verb} {other} over {_rests_on(against)}"]
    said += [_better(item) for item in better]
    said += [f"{text} per case" for item in facts.costs if stated and (text := _cost_change(item))]
    said += [f"{_named(same)}: equivalent within {facts.policy.margin * 100:g} points"] if same else []
    said += [f"{_named(rest)}: no significant change"] if rest else []
    said += [smallest_detectable(stated)]
    said += [f"{_whose(item)}{_numbers(item)} {_insignificant(item)}" for item in _falls(facts.judged)]
    said += unchanged
    said += facts.within_chance
    said += [f"outside the primary metrics, {facts.fell[0]}{_more(facts.fell)}"] if facts.fell else []
    said += [f"{facts.unasked}; what is better shows when all is recorded" if facts.unasked else "", *facts.limits]
    said += [f"not compared with the baseline: {why}" for why in facts.unblessed]
    return f"{'; '.join(text for text in said if text)}."


def _named(items: Sequence[Comparison]) -> str:
    names = [item.endpoint for item in items]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _better(item: Comparison) -> str:
    size = f"{item.endpoint} {(item.delta or 0) * 100:+.0f} points"
    if item.low is None or item.high is None:
        return size
    return f"{size} (95 % interval {item.low * 100:+.0f} to {item.high * 100:+.0f})"


def _cost_change(item: CostChange) -> str:
    """`23 % fewer tokens [21, 25]`; empty where there is no significant change of half a percent or more."""
    if item.before is None or item.low is None or item.high is None or item.low <= 0 <= item.high:
        return ""
    if abs(item.size or 0) < 0.005:
        return ""
    low, high = sorted((abs(item.low), abs(item.high)))
    return f"{_rise_or_fall(item)} [{low * 100:.0f}, {high * 100:.0f}]"


def _rise_or_fall(item: CostChange) -> str:
    _, more, fewer = COSTS[item.name]
    return f"{abs(item.size or 0) * 100:.0f} % {more if (item.size or 0) > 0 else fewer}"


def _cost_over_limit(item: CostChange) -> str:
    if item.before is not None:
        change = _cost_change(item) or _rise_or_fall(item)
        return f"{item.left} has {change} than {item.right} over {counted(item.n, 'case')}; the limit is {item.limit}"
    interval = f" [{item.low:.4g}, {item.high:.4g}]" if item.low is not None and item.high is not None else ""
    mean = f"{item.after:.4g} {COSTS[item.name][0]} per case{interval}"
    return f"{item.left} needs {mean} over {counted(item.n, 'case')}; the limit is {item.limit:g}"


def smallest_detectable(items: Sequence[Comparison]) -> str:
    """The largest of the metrics' smallest detectable drops, rounded up, and the metrics of which no drop would show.

    A drop of that size in any of the metrics is called a regression in 80 of 100 such comparisons.
    """
    known = {item.endpoint: item.minimum_detectable for item in items if item.minimum_detectable is not None}
    blind = [item for item in items if item.n and item.minimum_detectable is None]
    said = []
    if known:
        name = max(known, key=lambda name: known[name])
        said.append(f"smallest detectable drop: {math.ceil(round(known[name] * 100, 6))} points ({name})")
    said += [f"no drop of {_named(blind)} would be detected"] if blind else []
    return "; ".join(said)


def _falls(judged: Sequence[Comparison]) -> list[Comparison]:
    """What is lower than it was, however little, against a baseline; against the reference, only what the interval
    says: two prompts are never quite alike, but a variant is what it was blessed as unless something changed it. Where
    there are too few cases for an interval, nobody can say that a fall is none."""
    return [
        item
        for item in judged
        if item.delta is not None
        and item.delta < 0
        and (item.against == "baseline" or (item.verdict == "inconclusive" and (item.high is None or item.high < 0)))
    ]


def _whose(item: Comparison) -> str:
    return f"{item.left} against its baseline: " if item.against == "baseline" else ""


def _insignificant(item: Comparison) -> str:
    return "is not significant" + (f" (p {item.p_holm:.2f})" if item.p_holm is not None else "")


def _rests_on(items: Sequence[Comparison]) -> str:
    """How many cases the endpoints were compared on, from the fewest to the most, and which of them on none."""
    counts = [item.n for item in items if item.n]
    cases = counted(max(counts), "case") if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)} cases"
    none = [item.endpoint for item in items if not item.n]
    return f"{cases}, with nothing to compare in {', '.join(none)}" if none else cases


def comparison_sentence(item: Comparison) -> str:
    """One comparison as a tired person reads it."""
    if item.delta is None:
        return f"{item.endpoint} of {item.left} against {item.right}: nothing to compare"
    return f"{item.left} against {item.right}: {_change(item)}"


def _change(item: Comparison) -> str:
    """How far an endpoint moved, on how many cases, and what the broken ones have in common."""
    if item.delta is None:
        return f"{item.endpoint}: nothing to compare"
    return f"{_numbers(item)}; {item.divergence}" if item.divergence else _numbers(item)


def _numbers(item: Comparison) -> str:
    """The same without what the broken ones have in common."""
    low, high, points = (None if each is None else each * 100 for each in (item.low, item.high, item.delta or 0.0))
    interval = f" [{low:+.0f}, {high:+.0f}]" if low is not None and high is not None else ""
    flips = f", {len(item.broke)} worse, {len(item.mended)} better" if item.broke or item.mended else ""
    size = f"{points:+.1f}" if points and abs(points) < 0.5 else f"{points:+.0f}"
    return f"{item.endpoint} {size} points{interval} over {counted(item.n, 'case')}{flips}"
