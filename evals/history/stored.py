"""A baseline as it stands in git, read as far as it says what a history needs: older ones say less."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

Scores = Mapping[str, float]
"""Case -> score, or point -> grade."""

AnsweredBy = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
"""Variant -> agent -> models -> the cases they answered; empty in a baseline from before this was kept."""
_KEPT_SINCE: Final = {
    "states": "it keeps no grades of frozen states, so that decision.score is not known",
    "scorers": "it does not say which scorers made its numbers",
    "prompts": "it does not say which prompts it is of",
    "topology": "it does not say which graph it is of",
    "cases": "it does not say which labels it rests on",
}


@dataclass(frozen=True)
class Stored:
    """What is kept of one baseline: digests, (variant, scorer) -> scores for the scorers that were asked for, and
    variant -> case -> point -> grade.

    `unread` are sentences on what it does not say.
    """

    suite: str
    scorers: str
    topology: Mapping[str, str]
    cases: Mapping[str, str]
    prompts: Mapping[str, str]
    scores: Mapping[tuple[str, str], Scores]
    states: Mapping[str, Mapping[str, Scores]]
    answered_by: AnsweredBy
    unread: tuple[str, ...]

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants it has scores of."""
        return tuple(dict.fromkeys(variant for variant, _ in self.scores))


class _File(BaseModel):
    """The members that are read; whatever else stands there is no concern of a history."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    suite: str = ""
    scorers: str = ""
    topology: dict[str, str] = Field(default_factory=dict)
    cases: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, dict[str, float]]]
    states: dict[str, dict[str, dict[str, float]]] = Field(default_factory=dict)
    answered_by: dict[str, dict[str, dict[str, tuple[str, ...]]]] = Field(default_factory=dict)


def read_stored(raw: bytes, scorers: tuple[str, ...]) -> Stored | str:
    """The baseline in a file, or one sentence on why nothing of it can be read."""
    try:
        return _kept(_File.model_validate_json(raw), scorers, ())
    except ValidationError as error:
        return _partly(raw, error, scorers)


def _partly(raw: bytes, error: ValidationError, scorers: tuple[str, ...]) -> Stored | str:
    """What is left without the members that are of another shape than today."""
    wrong = sorted({str(each["loc"][0]) for each in error.errors() if each["loc"]})
    if not wrong or "values" in wrong:
        return "it cannot be read: " + ("its values are missing or of no known shape" if wrong else "it is no JSON")
    told: dict[str, Any] = {name: value for name, value in from_json(raw).items() if name not in wrong}
    odd = tuple(f"its {name} are of no known shape" for name in wrong)
    return _kept(_File.model_validate(told), scorers, odd)


def _kept(file: _File, scorers: tuple[str, ...], odd: tuple[str, ...]) -> Stored:
    return Stored(
        suite=file.suite,
        scorers=file.scorers,
        topology=file.topology,
        cases=file.cases,
        prompts=file.prompts,
        scores={
            (variant, scorer): {case: scores[scorer] for case, scores in cases if scorer in scores}
            for variant, cases in ((variant, sorted(cases.items())) for variant, cases in file.values.items())
            for scorer in scorers
        },
        states={
            variant: {case: dict(sorted(points.items())) for case, points in sorted(cases.items())}
            for variant, cases in file.states.items()
        },
        answered_by=file.answered_by,
        unread=(*odd, *(said for name, said in _KEPT_SINCE.items() if name not in file.model_fields_set)),
    )
