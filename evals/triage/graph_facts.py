"""Facts about the graph for lint: edges, state and prompts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import triage.prompts
from evals.models.suite import Models, Variant
from evals.triage.dataset.finding import Surroundings
from evals.triage.trial_clients import replay_clients
from evals.triage.variant_graph import team_of
from triage.state import BugTriageState

_ANY: Variant = Variant(name="any", prompt="v1", models=Models(default="none", fallback="none"))


def surroundings() -> Surroundings:
    """The graph as it is now, under the default guards."""
    return Surroundings(
        prompts=Path(triage.prompts.__file__).parent, validate_state=what_is_wrong_with, edges=steps_between_workers()
    )


def what_is_wrong_with(fields: Mapping[str, Any]) -> str | None:
    """The first thing that keeps `fields` from being a state of the graph; None if they are one."""
    try:
        BugTriageState.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return None


def steps_between_workers() -> frozenset[tuple[str, str]]:
    """The steps the compiled graph allows from visit to visit, the supervisor in between left out."""
    drawn = team_of(_ANY, replay_clients()).graph.get_graph().edges
    edges = {(edge.source.strip("_"), edge.target.strip("_")) for edge in drawn}
    before = {source for source, target in edges if target == "supervisor"}
    after = {target for source, target in edges if source == "supervisor"}
    direct = {(source, target) for source, target in edges if "supervisor" not in (source, target)}
    return frozenset(direct | {(source, target) for source in before for target in after})
