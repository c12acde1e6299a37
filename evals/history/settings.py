"""What a suite's file says beside its baseline, as of a commit: each variant's guards and models, and who is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evals.history.plain import plain_yaml
from evals.models.suite import Variant

_GUARDS: Final = str(Variant.model_fields["guards"].default)


@dataclass(frozen=True)
class Settings:
    """Variant -> its guard set, and its models in words; the candidate's name."""

    guards: Mapping[str, str]
    models: Mapping[str, str]
    candidate: str


def read_settings(raw: bytes) -> Settings | None:
    """The settings in a suite's file; None where it is none that can be read."""
    told = plain_yaml(raw)
    variants = told.get("variants") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(variants, list):
        return None
    if not all(isinstance(each, dict) and "name" in each for each in variants):
        return None
    shared = _mapping(told.get("models"))
    return Settings(
        guards={str(each["name"]): str(each.get("guards", _GUARDS)) for each in variants},
        models={str(each["name"]): _in_words({**shared, **_mapping(each.get("models"))}) for each in variants},
        candidate=str(told.get("candidate", "")),
    )


def _in_words(models: Mapping[str, Any]) -> str:
    """`claude`, and whoever answers for some agents alone."""
    agents = _mapping(models.get("agents"))
    return ", ".join([str(models.get("default", "")), *(f"{model} for {agent}" for agent, model in agents.items())])


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
