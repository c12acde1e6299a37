"""Variants as the harness shows and checks them. Light: importing this loads neither LangGraph nor Chroma."""

import hashlib
from pathlib import Path

from pydantic import ValidationError

import triage.prompts
from evals.errors import ConfigurationError
from evals.models.run import VariantInfo
from evals.models.suite import Variant
from triage.configuration import Configuration, RulesSettings
from triage.errors import TriageError
from triage.guards import guard_set
from triage.plans import MODES, given_plan, plan_path
from triage.prompts import load_supervisor_prompt
from triage.state import ConfidenceFloor, PlanLimits


def configuration_of(variant: Variant) -> Configuration:
    """The configuration of the graph that a variant names.

    Raises:
        ConfigurationError: no such prompt or guard set, one that does not fit the supervisor, or settings that do not
            go together.
    """
    floor, limits = variant.confidence_floor, variant.plan_limits
    try:
        guard_set(variant.guards)
        return Configuration(
            prompt=load_supervisor_prompt(variant.prompt) if variant.prompt is not None else None,
            guards=variant.guards,
            confidence_floor=ConfidenceFloor(**floor.model_dump()) if floor else None,
            supervisor=variant.supervisor,
            plan=variant.plan,
            plan_limits=PlanLimits(**limits.model_dump()) if limits else PlanLimits(),
            rules=_settings(variant),
        )
    except ValidationError as error:
        raise ConfigurationError(f"variant {variant.name}: {error.errors()[0]['msg']}") from error
    except (OSError, ValueError, TriageError, ConfigurationError) as error:
        raise ConfigurationError(f"variant {variant.name}: {error}") from error


def plan_text(variant: Variant) -> str:
    """The file of the plan a variant starts from; empty where it starts from none.

    Raises:
        ConfigurationError: a plan is missing, is one too many, or has faults.
    """
    try:
        if variant.supervisor in MODES:
            given_plan(MODES[variant.supervisor], variant.plan)
        return plan_path(variant.plan).read_text(encoding="utf-8") if variant.plan is not None else ""
    except (OSError, TriageError) as error:
        raise ConfigurationError(f"variant {variant.name}: {error}") from error


def describe(variant: Variant, root: Path) -> VariantInfo:
    """The variant with the exact prompt text it runs, and the plan behind it, if any: both make up the digest.
    `prompt_source` is relative to `root` where it can be.

    Raises:
        ConfigurationError: the variant cannot be configured, see `configuration_of` and `plan_text`.
    """
    prompt = configuration_of(variant).prompt
    if prompt is None or variant.prompt is None:
        return VariantInfo(variant=variant)
    plan = plan_text(variant)
    spec = Path(variant.prompt)
    source = spec if spec.suffix == ".md" else Path(triage.prompts.__file__).parent / "supervisor" / f"{spec}.md"
    return VariantInfo(
        variant=variant,
        prompt_version=prompt.version,
        prompt_digest=hashlib.sha256(f"{prompt.digest}\n{plan}".encode()).hexdigest() if plan else prompt.digest,
        prompt_source=_relative(source.resolve(), root),
        prompt_text=f"{prompt.system}\n\n{prompt.task}\n",
        plan_text=plan,
    )


def _settings(variant: Variant) -> RulesSettings:
    if variant.rules is None:
        return RulesSettings()
    if variant.supervisor != "rules":
        raise ConfigurationError(f"`rules` are settings of supervisor 'rules', not of {variant.supervisor!r}")
    return RulesSettings(**variant.rules.model_dump())


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
