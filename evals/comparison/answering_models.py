"""Models that answered a variant's requests, by agent and case, and where those of two sides differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.run import Trial

AnsweredBy = Mapping[str, Mapping[str, Sequence[str]]]
"""Agent -> models, joined by " and " -> the cases they answered; no cases are listed for the most frequent models."""
DECISION_POINTS: Final = "decision points"
"""The name under which answers in decision points are kept: they are asked outside of any trial."""


def answered_by(trials: Sequence[Trial], variant: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """The models behind everything that was scored of a variant: of exact trials, and of all decision points."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for agent, cases in sorted(_by_agent(trials, variant).items()):
        (most, _), *_ = sorted(Counter(cases.values()).items(), key=lambda item: (-item[1], item[0]))
        others = sorted(set(cases.values()) - {most})
        found[agent] = {
            most: (),
            **{models: tuple(sorted(case for case, by in cases.items() if by == models)) for models in others},
        }
    return found


@dataclass(frozen=True)
class DifferentModels:
    """`now` answered a variant where `was` answered the other side; `where` names agents and counts cases."""

    now: str
    was: str
    where: str


def different_models(
    trials: Sequence[Trial], variant: str, mine: AnsweredBy, other: AnsweredBy
) -> list[DifferentModels]:
    """Which agents of a variant were answered by other models than on the other side; one entry per pair of models.
    `mine` is what `answered_by` says of the variant.

    Both sides are compared case by case. An agent that only one side has answered nothing on the other: no difference.
    """
    if all(mine[agent] == other[agent] for agent in mine.keys() & other.keys()):
        return []
    agents: dict[tuple[str, str], list[str]] = {}
    places: dict[tuple[str, str], set[str]] = {}
    for agent, cases in sorted(_by_agent(trials, variant).items()):
        if not (there := other.get(agent)):
            continue
        usual = next(models for models, listed in there.items() if not listed)
        listed = {case: models for models, some in there.items() for case in some}
        for case, models in cases.items():
            if (was := listed.get(case, usual)) != models:
                agents.setdefault((models, was), []).append(agent)
                places.setdefault((models, was), set()).add(case)
    total = len({trial.trace.case_id for trial in trials if trial.trace.variant == variant})
    return [
        DifferentModels(now, was, f"{', '.join(dict.fromkeys(agents[now, was]))} in {len(cases)} of {total} cases")
        for (now, was), cases in places.items()
    ]


def _by_agent(trials: Sequence[Trial], variant: str) -> dict[str, dict[str, str]]:
    """Agent -> case -> the models that answered it there."""
    names: dict[tuple[str, str], set[str]] = {}
    for trace in (trial.trace for trial in trials if trial.trace.variant == variant):
        if trace.provenance.label == "exact":
            for call in trace.calls:
                if call.model:
                    names.setdefault((call.agent, trace.case_id), set()).add(call.model)
        for point in trace.points:
            if point.models:
                names.setdefault((DECISION_POINTS, trace.case_id), set()).update(point.models)
    found: dict[str, dict[str, str]] = {}
    for (agent, case), models in names.items():
        found.setdefault(agent, {})[case] = " and ".join(sorted(models))
    return found
