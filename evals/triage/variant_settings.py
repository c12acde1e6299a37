"""What a variant of the triage graph may set beside the members that every variant has."""

from typing import Annotated, Literal

from pydantic import Field, ValidationError

from evals.errors import ConfigurationError, nearest_name
from evals.models.base import Closed
from evals.models.suite import Fraction, Variant


class ConfidenceFloorSetting(Closed):
    """The thresholds of the optional `confidence_floor` guard, enforced in code."""

    single: Fraction = 0.85
    corroborated: Fraction = 0.70
    min_findings: Annotated[int, Field(ge=1)] = 2


class PlanLimitSettings(Closed):
    """How long a plan is worked on: tries per task, and answers of the supervisor."""

    max_attempts: Annotated[int, Field(ge=1)] = 2
    max_steps: Annotated[int, Field(ge=1)] = 10


class RulesSupervisorSettings(Closed):
    """The numbers the `rules` supervisor decides by; `triage.graph_configuration` explains and checks them together."""

    low_confidence: Fraction = 0.65
    min_score: Fraction = 0.20
    max_retries: Annotated[int | None, Field(ge=0)] = None
    review_below: Fraction = 0.85
    chunks: Annotated[int, Field(ge=1)] = 5


class TriageSettings(Closed):
    """The settings by name. A supervisor that is plain code has no `prompt`, but `rules`, its numbers."""

    supervisor: Literal["llm", "rules", "registry", "plan-fixed", "plan-llm", "plan-hybrid"] = "llm"
    prompt: str | None = None
    rules: RulesSupervisorSettings | None = None
    plan: str | None = None
    plan_limits: PlanLimitSettings | None = None
    guards: str = "hardened"
    confidence_floor: ConfidenceFloorSetting | None = None
    max_iterations: Annotated[int, Field(ge=1)] = 10


def settings_of(variant: Variant) -> TriageSettings:
    """The settings of a variant, with defaults for what it leaves out. Raises ConfigurationError for others, and for
    values of another type."""
    try:
        return TriageSettings.model_validate(variant.settings, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where, said = ".".join(map(str, first["loc"])), first["msg"]
        if where in variant.settings and first["type"] == "extra_forbidden":
            said = f"no such setting{nearest_name(where, TriageSettings.model_fields)}"
        raise ConfigurationError(f"variant {variant.name}: {where}: {said}") from error


def completed(variant: Variant) -> Variant:
    """The variant with all settings in one order, defaults included. Raises ConfigurationError as `settings_of`."""
    of_all = {name: getattr(variant, name) for name in Variant.model_fields}
    return Variant(**of_all, **settings_of(variant).model_dump(mode="json"))
