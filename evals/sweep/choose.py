"""Which setting to work at: the best recorded one on `tune`, confirmed on `gate` against the present one.

The score on `tune` flatters the choice, since it was the best of many there; the one on `gate` does not.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE
from evals.judging.comparison import compare
from evals.judging.summary import case_means
from evals.models.case import Case, Split
from evals.models.run import Comparison
from evals.models.suite import GatePolicy
from evals.models.sweep import Behaviour, Recommendation, SplitSummary
from evals.sweep.behaviours import Trials

CHOSEN_ON: Final[Split] = "tune"
CONFIRMED_ON: Final[Split] = "gate"
_SAME: Final = 1e-9


def eligible(behaviours: Sequence[Behaviour], floor: float) -> list[Behaviour]:
    """Those recorded on `tune` for the share of trials the policy demands, and scored there."""
    return [
        one
        for one in behaviours
        if (summary := one.splits.get(CHOSEN_ON)) and summary.share >= floor and summary.score.mean is not None
    ]


def front(candidates: Sequence[Behaviour]) -> list[Behaviour]:
    """The Pareto front on `tune`: nothing else scores as well for fewer model calls, or better for as many; cheapest
    first. Of equals the first stays."""
    kept: list[Behaviour] = []
    for one in sorted(candidates, key=lambda one: (_calls(one), -_score(one))):  # stable: the present one comes first
        if not kept or _score(one) > _score(kept[-1]) + _SAME:
            kept.append(one)
    return kept


def best(candidates: Sequence[Behaviour]) -> Behaviour:
    """The highest score on `tune`; of equals the one with fewest model calls, then the first."""
    top = max(_score(one) for one in candidates)
    return min((one for one in candidates if _score(one) >= top - _SAME), key=_calls)


def recommend(
    behaviours: Sequence[Behaviour], trials: Trials, cases: Mapping[str, Case], scorer: str, policy: GatePolicy
) -> Recommendation:
    """The choice with its confirmation; the first behaviour holds the present setting.

    Status: recommended (0), not confirmed (1: worse on `gate` than the present setting, beyond chance), cannot
    recommend (3: the tape or the suite does not reach, or only one behaviour is recorded).
    """
    candidates = eligible(behaviours, policy.coverage_floor)
    if not candidates:
        return _cannot(f"coverage: no setting is recorded for enough of the {CHOSEN_ON} cases")
    chosen, present = best(candidates), behaviours[0]
    held = chosen.splits.get(CONFIRMED_ON)
    if held is None:
        return _cannot(f"the suite has no {CONFIRMED_ON} case to confirm {chosen.name} on")
    if held.share < policy.coverage_floor or held.score.mean is None:
        return _cannot(f"coverage: {chosen.name}, best on {CHOSEN_ON}, is not recorded for enough {CONFIRMED_ON} cases")
    if len(candidates) == 1:
        others = f"the other {len(behaviours) - 1} leave the tape" if len(behaviours) > 1 else "all points behave alike"
        return _cannot(f"nothing to choose between: {chosen.name} is the only recorded behaviour, {others}")
    against = None if chosen is present else _compared(chosen, present, trials, cases, scorer, policy)
    if against is not None and against.delta is None:
        return _cannot(f"coverage: no {CONFIRMED_ON} case has both {chosen.name} and the present {present.name}")
    worse = against is not None and against.verdict == "regression"
    told = f"{scorer} {_score_in_words(held)} on {held.score.n} {CONFIRMED_ON} cases{_against(against)}"
    rests = f"chosen on {CHOSEN_ON} among {len(candidates)} of {len(behaviours)} behaviours that are recorded"
    verb = "Do not move to" if worse else "Stay at" if chosen is present else "Work at"
    return Recommendation(
        status="not confirmed" if worse else "recommended",
        exit_code=EXIT_WORSE if worse else EXIT_OK,
        sentence=f"{verb} {chosen.name}: {told}; {rests}.",
        behaviour=chosen.name,
        comparison=against,
    )


def _cannot(why: str) -> Recommendation:
    return Recommendation(
        status="cannot recommend", exit_code=EXIT_CANNOT_JUDGE, sentence=f"Cannot recommend a setting: {why}."
    )


def _compared(
    chosen: Behaviour,
    present: Behaviour,
    trials: Trials,
    cases: Mapping[str, Case],
    scorer: str,
    policy: GatePolicy,
) -> Comparison:
    """The choice against the present setting, on the cases that had no part in choosing."""
    mine, theirs = (
        {
            case: value
            for case, value in case_means(trials[one.name], one.name, scorer).items()
            if cases[case].labels.split == CONFIRMED_ON
        }
        for one in (chosen, present)
    )
    clusters = {case.id: case.cluster for case in cases.values()}
    return compare({(chosen.name, present.name): {scorer: (mine, theirs)}}, clusters, "reference", policy)[0]


def _score_in_words(summary: SplitSummary) -> str:
    score = summary.score
    known = (
        f" [{100 * score.low:.0f}, {100 * score.high:.0f}]" if score.low is not None and score.high is not None else ""
    )
    return f"{100 * _score_of(summary):.0f} %{known}"


def _against(item: Comparison | None) -> str:
    if item is None:
        return ", and no other recorded setting scores better"
    if item.delta is None:
        return f", nothing to compare with {item.right}"
    known = (
        f" [{item.low * 100:+.0f}, {item.high * 100:+.0f}]" if item.low is not None and item.high is not None else ""
    )
    return f", {item.delta * 100:+.0f} points{known} against {item.right} ({item.verdict})"


def _score(one: Behaviour) -> float:
    return _score_of(one.splits[CHOSEN_ON])


def _score_of(summary: SplitSummary) -> float:
    return summary.score.mean if summary.score.mean is not None else float("-inf")


def _calls(one: Behaviour) -> float:
    calls = one.splits[CHOSEN_ON].llm_calls
    return calls if calls is not None else float("inf")
