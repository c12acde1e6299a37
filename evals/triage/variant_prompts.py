"""Prompts of variants, the lines of their files, and the files that make up the graph."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

import triage.prompts
import triage.state
from evals.cassettes.nearest_request import digest
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run import VariantInfo
from evals.models.suite import Variant
from evals.pack import PromptFile
from triage.configuration import Configuration, RulesSettings
from triage.errors import TriageError
from triage.guards.guard_sets import guard_set
from triage.plans.plan_files import MODES, given_plan, plan_path
from triage.prompts.load import SupervisorPrompt, load_supervisor_prompt
from triage.run_options import DEFAULT_PROMPTS
from triage.state import ConfidenceFloor, PlanLimits

__all__ = [
    "SupervisorPrompt",
    "configuration_of",
    "describe",
    "plan_file",
    "plan_text",
    "prompt_of",
]


def configuration_of(variant: Variant, prompt: SupervisorPrompt | None = None) -> Configuration:
    """The configuration of the graph that a variant names; `prompt` is its prompt where that was read before.

    Raises:
        ConfigurationError: no such prompt or guard set, one that does not fit the supervisor, or settings that do not
            go together.
    """
    floor, limits = variant.confidence_floor, variant.plan_limits
    try:
        guard_set(variant.guards)
        return Configuration(
            prompt=prompt or (load_supervisor_prompt(variant.prompt) if variant.prompt is not None else None),
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


def prompt_text(text: str, source: str) -> str:
    """The text of a supervisor's prompt file as descriptions give it; `source` is what errors call it.

    Raises:
        ConfigurationError: the file holds no prompt.
    """
    try:
        prompt = triage.prompts.parse_supervisor_prompt(text, source=source)
    except TriageError as error:
        raise ConfigurationError(str(error)) from error
    return f"{prompt.system}\n\n{prompt.task}\n"


def default_prompts() -> dict[str, str]:
    """Supervisor -> version and digest of the prompt that `triage run` gives it where none is named.

    Raises:
        ConfigurationError: such a prompt cannot be read.
    """
    try:
        found = {name: load_supervisor_prompt(version) for name, version in DEFAULT_PROMPTS.items()}
    except (OSError, ValueError, TriageError) as error:
        raise ConfigurationError(f"the default prompts of `triage run`: {error}") from error
    return {name: f"{prompt.version} {prompt.digest}" for name, prompt in found.items()}


def plan_text(variant: Variant) -> str:
    """The file of the plan a variant starts from; empty where it starts from none.

    Raises:
        ConfigurationError: a plan is missing, is one too many, or has faults.
    """
    try:
        if variant.supervisor in MODES:
            given_plan(MODES[variant.supervisor], variant.plan)
        path = plan_file(variant)
        return "" if path is None else path.read_text(encoding="utf-8")
    except (OSError, TriageError) as error:
        raise ConfigurationError(f"variant {variant.name}: {error}") from error


def plan_file(variant: Variant) -> Path | None:
    """The file of the plan a variant starts from, if it does. Raises PlanError where there is none."""
    return None if variant.plan is None else plan_path(variant.plan)


def prompt_of(info: VariantInfo) -> SupervisorPrompt | None:
    """The prompt that a description is of, to be handed to whoever runs the variant.

    Raises:
        CannotJudgeError: the prompt's file, or the plan's, holds something else by now.
    """
    prompt = configuration_of(info.variant).prompt
    if _digest(prompt, plan_text(info.variant)) != info.prompt_digest:
        raise CannotJudgeError(
            f"variant {info.variant.name}: {info.prompt_source} changed while the run was under way; run it again"
        )
    return prompt


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
        prompt_digest=_digest(prompt, plan),
        prompt_source=_relative(source.resolve(), root),
        prompt_text=f"{prompt.system}\n\n{prompt.task}\n",
        plan_text=plan,
    )


def _digest(prompt: SupervisorPrompt | None, plan: str) -> str:
    """The digest of a prompt and the plan beside it; empty where there is no prompt."""
    if prompt is None:
        return ""
    return hashlib.sha256(f"{prompt.digest}\n{plan}".encode()).hexdigest() if plan else prompt.digest


def _settings(variant: Variant) -> RulesSettings:
    if variant.rules is None:
        return RulesSettings()
    if variant.supervisor != "rules":
        raise ConfigurationError(f"`rules` are settings of supervisor 'rules', not of {variant.supervisor!r}")
    return RulesSettings(**variant.rules.model_dump())


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


_PACKAGE = Path(triage.prompts.__file__).parent


def worker_files(root: Path) -> tuple[PromptFile, ...]:
    """The prompts of all workers."""
    return tuple(_file(path, root) for path in sorted((_PACKAGE / "agents").glob("*.md")))


def supervisor_files(infos: Iterable[VariantInfo], root: Path) -> dict[str, PromptFile]:
    """The supervisor's prompt of each variant that has one, by the variant's name."""
    found = {}
    for info in infos:
        prompt = configuration_of(info.variant).prompt
        if prompt is not None and info.variant.prompt is not None:
            spec = Path(info.variant.prompt)
            path = spec if spec.suffix == ".md" else _PACKAGE / "supervisor" / f"{spec}.md"
            found[info.variant.name] = _file(path, root, prompt.version, digest(prompt.system))
    return found


def _file(path: Path, root: Path, version: str = "", system: str = "") -> PromptFile:
    path = path.resolve()
    shown = path.relative_to(root) if path.is_relative_to(root) else path.relative_to(_outside(path))
    return PromptFile(shown.as_posix(), tuple(path.read_text(encoding="utf-8").splitlines()), version, system)


def _outside(path: Path) -> Path:
    """What is left out of a path that is not in the checkout: all above the package, else all but the name."""
    package = _PACKAGE.parent.parent
    return package if path.is_relative_to(package) else path.parent


def graph_sources() -> list[Path]:
    """Code and agent prompts of the graph, sorted. Supervisor prompts are left out: each variant brings its own."""
    root = graph_folder()
    found = [*root.rglob("*.py"), *root.rglob("*.md")]
    return sorted(path for path in found if path.parent.name != "supervisor")


def graph_folder() -> Path:
    """The folder that holds all of the graph: code, prompts, guards and plans."""
    return Path(triage.state.__file__).parent
