"""A suite: which cases, which variants, which one is judged against which, and by what policy."""

from typing import Annotated, Literal

from pydantic import Field

from evals.models.case import Archetype, Split
from evals.models.closed import Closed

Fraction = Annotated[float, Field(ge=0, le=1)]


class ConfidenceFloor(Closed):
    """The thresholds of the optional `confidence_floor` guard, enforced in code."""

    single: Fraction = 0.85
    corroborated: Fraction = 0.70
    min_findings: Annotated[int, Field(ge=1)] = 2


class Models(Closed):
    """Which model answers for which agent. `default` serves every agent not named in `agents`."""

    default: str
    fallback: str
    agents: dict[str, str] = Field(default_factory=dict)
    max_output_tokens: int | None = None


class Variant(Closed):
    """One configuration of the graph."""

    name: str
    supervisor: Literal["llm"] = "llm"
    prompt: str
    guards: str = "hardened"
    confidence_floor: ConfidenceFloor | None = None
    max_iterations: Annotated[int, Field(ge=1)] = 10
    models: Models


class Selection(Closed):
    """Which cases a suite runs: all that match every given field."""

    ids: tuple[str, ...] = ()
    splits: tuple[Split, ...] = ()
    tags: tuple[str, ...] = ()
    archetypes: tuple[Archetype, ...] = ()


class GatePolicy(Closed):
    """What the gate demands. `margin` is the largest drop in a score that still counts as no worse."""

    coverage_floor: Fraction = 1.0
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    margin: Fraction = 0.05
    require: Literal["no_regression", "equivalence"] = "no_regression"


class Suite(Closed):
    """What one `evals run` does."""

    name: str
    description: str
    cases: Selection
    models: Models
    variants: Annotated[tuple[Variant, ...], Field(min_length=1)]
    candidate: str
    reference: str
    samples: Annotated[int, Field(ge=1)] = 1
    gate: GatePolicy = GatePolicy()
