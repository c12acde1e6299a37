"""Preferences between two reports, each asked in both orders: who is better, and does the place decide it."""

from collections.abc import Mapping, Sequence

from evals.llm_judge.ask import Heard
from evals.llm_judge.question import Question
from evals.llm_judge.rates import rate
from evals.llm_judge.suite import Paired
from evals.models.judge import PairAnswer
from evals.models.judged import Position, Preferences
from evals.stats.binomial import two_sided

Answers = Mapping[Question, Heard]
Lengths = Mapping[tuple[str, str], int]
"""(case, variant) -> characters of what was written."""


def preferred(item: Paired, answers: Answers) -> str | None:
    """The variant an answer prefers, "tie", or None where there is no answer."""
    heard = answers.get(item.question)
    answer = heard.answer if heard is not None else None
    if not isinstance(answer, PairAnswer):
        return None
    return {"first": item.first, "second": item.second, "tie": "tie"}[answer.preferred]


def preferences(
    items: Sequence[Paired],
    answers: Answers,
    clusters: Mapping[str, str],
    candidate: str,
    reference: str,
    equal: int,
) -> Preferences:
    """The tally over cases. Two orders that name different reports contradict each other, and are no preference; one
    that prefers and one that sees a tie is a preference."""
    better = worse = tie = contradicted = missing = 0
    leaning: dict[str, int] = {}
    for case, said in _by_case(items, answers).items():
        named = {each for each in said if each not in (None, "tie")}
        if None in said:
            missing += 1
        elif len(named) > 1:
            contradicted += 1
        elif not named:
            tie += 1
        else:
            won = named == {candidate}
            better, worse = better + won, worse + (not won)
            leaning[clusters[case]] = leaning.get(clusters[case], 0) + (1 if won else -1)
    decided = [side for side in leaning.values() if side]
    return Preferences(
        candidate=candidate,
        reference=reference,
        better=better,
        worse=worse,
        tie=tie,
        contradicted=contradicted,
        equal=equal,
        missing=missing,
        p_value=two_sided(sum(side > 0 for side in decided), len(decided)) if decided else None,
    )


def position(items: Sequence[Paired], answers: Answers, lengths: Lengths) -> Position:
    """Whether the place, or the length, decides."""
    said = [(item, choice) for item in items if (choice := preferred(item, answers)) is not None]
    decided = [(item, choice) for item, choice in said if choice != "tie"]
    both = [choices for choices in _by_case(items, answers).values() if len(choices) == 2 and None not in choices]
    unequal = [
        (item, choice)
        for item, choice in decided
        if lengths[item.case_id, item.first] != lengths[item.case_id, item.second]
    ]
    return Position(
        pairs=len(both),
        first=rate([choice == item.first for item, choice in decided]),
        consistent=rate([choices[0] == choices[1] for choices in both]),
        longer=rate([choice == _longer(item, lengths) for item, choice in unequal]),
    )


def _longer(item: Paired, lengths: Lengths) -> str:
    return max((item.first, item.second), key=lambda variant: lengths[item.case_id, variant])


def _by_case(items: Sequence[Paired], answers: Answers) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for item in items:
        found.setdefault(item.case_id, []).append(preferred(item, answers))
    return found
