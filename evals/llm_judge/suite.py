"""What a suite asks its judge: the rubric about every report, and which of two is the better one, in both orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.llm_judge.dossier import dossier_of
from evals.llm_judge.prompt import Prompts
from evals.llm_judge.question import Question, pair_question, rubric_question
from evals.models.case import Case
from evals.models.judge import Dossier
from evals.models.trace import Trace


@dataclass(frozen=True)
class Graded:
    """The rubric's question about one trial."""

    case_id: str
    variant: str
    sample: int
    question: Question


@dataclass(frozen=True)
class Paired:
    """The question which of two trials of a case wrote the better report, asked with `first` first."""

    case_id: str
    first: str
    second: str
    question: Question


def graded(cases: Mapping[str, Case], traces: Sequence[Trace], prompts: Prompts) -> tuple[Graded, ...]:
    """One question per exact trial that wrote a report, in order."""
    found = ((trace, dossier_of(cases[trace.case_id], trace)) for trace in traces)
    return tuple(
        Graded(
            trace.case_id,
            trace.variant,
            trace.sample,
            rubric_question(trace.case_id, trace.variant, dossier, prompts),
        )
        for trace, dossier in found
        if dossier is not None
    )


def paired(
    cases: Mapping[str, Case], traces: Sequence[Trace], prompts: Prompts, candidate: str, reference: str
) -> tuple[Paired, ...]:
    """Two questions per case whose first trials under candidate and reference wrote different things; of equal ones
    nobody has to be asked."""
    found: dict[str, dict[str, Dossier]] = {}
    for trace in traces:
        dossier = dossier_of(cases[trace.case_id], trace) if not trace.sample else None
        if dossier is not None:
            found.setdefault(trace.case_id, {})[trace.variant] = dossier
    return tuple(
        Paired(
            case,
            first,
            second,
            pair_question(case, f"{first} or {second}", sides[first], sides[second], prompts),
        )
        for case, sides in found.items()
        if {candidate, reference} <= sides.keys() and sides[candidate].written != sides[reference].written
        for first, second in ((candidate, reference), (reference, candidate))
    )
