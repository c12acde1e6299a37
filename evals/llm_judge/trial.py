"""What a check asks a judge: originals, some of them twice, and everything that is planted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.errors import CannotJudgeError
from evals.llm_judge.hand import HandMade
from evals.llm_judge.planting.original import Original, original_of
from evals.llm_judge.planting.plant import Plant, asked_twice, attacks, broken, harmless
from evals.llm_judge.prompt import Prompts
from evals.llm_judge.question import Question, rubric_question
from evals.models.case import Case
from evals.models.trace import Trace

NAMES: Final = {"broken": "broken reports", "harmless": "reworded reports", "attack": "attacked reports"}
"""What planted reports are called where it does not matter how they were made."""


@dataclass(frozen=True)
class Bench:
    """The material of a check, each with its question: `originals` by case, `again` those that are asked twice."""

    originals: Mapping[str, tuple[Original, Question]]
    again: Mapping[str, Question]
    plants: tuple[tuple[Plant, Question], ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them."""
        first = (question for _, question in self.originals.values())
        return (*first, *self.again.values(), *(question for _, question in self.plants))


def bench_of(cases: Mapping[str, Case], traces: Sequence[Trace], prompts: Prompts, hand: HandMade) -> Bench:
    """What is planted in the good ones of these trials, of one variant, tune and gate only.

    Raises:
        CannotJudgeError: there is no good report to break.
    """
    found = [
        original
        for trace in traces
        if cases[trace.case_id].labels.split != "holdout" and not trace.sample
        if (original := original_of(cases[trace.case_id], trace)) is not None
    ]
    if not found:
        raise CannotJudgeError("no recorded report is good enough to be broken; record the suite's trials first")
    spoilt = broken(found, hand)
    plants = (*spoilt, *harmless(found, hand), *attacks(spoilt, hand))
    return Bench(
        {
            original.case_id: (original, rubric_question(original.case_id, "originals", original.dossier, prompts))
            for original in found
        },
        {
            original.case_id: rubric_question(
                original.case_id, "originals asked twice", original.dossier, prompts, second=True
            )
            for original in asked_twice(found, hand)
        },
        tuple((plant, rubric_question(plant.case_id, NAMES[plant.sort], plant.dossier, prompts)) for plant in plants),
    )
