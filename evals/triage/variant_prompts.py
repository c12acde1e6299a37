"""Prompts of variants, the lines of their files, and the files that make up the graph."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

import triage.prompts
import triage.state
from evals.application_pack import PromptFile
from evals.cassettes.calls_and_misses import digest
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run import VariantInfo
from evals.models.suite import Variant
from evals.prompt_versions import NamedPrompt, named_prompts
from evals.triage.variant_settings import completed, settings_of
from triage.errors import TriageError
from triage.graph_configuration import Configuration, RulesSettings
from triage.guards.guard_sets import guard_set
from triage.plans.plan_files import MODES, given_plan, plan_path
from triage.prompts.load import SupervisorPrompt, load_supervisor_prompt
from triage.run_options import DEFAULT_PROMPTS
from triage.state import ConfidenceFloor, PlanLimits

_PACKAGE: Final = Path(triage.prompts.__file__).parent


def configuration_of(variant: Variant, prompt: SupervisorPrompt | None = None) -> Configuration:
    """The configuration of the graph that a variant names; `prompt` is its prompt where that was read before.

    Raises:
        ConfigurationError: no such prompt or guard set, one that does not fit the supervisor, or settings that do not
            go together.
    """
    settings = settings_of(variant)
    floor, limits = settings.confidence_floor, settings.plan_limits
    try:
        guard_set(settings.guards)
        return Configuration(
            prompt=prompt or _supervisor(variant)[0],
            guards=settings.guards,
            confidence_floor=ConfidenceFloor(**floor.model_dump()) if floor else None,
            supervisor=settings.supervisor,
            plan=settings.plan,
            plan_limits=PlanLimits(**limits.model_dump()) if limits else PlanLimits(),
            rules=_settings(variant),
            forced=variant.forced,
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
    return _text_of(prompt)


def _text_of(prompt: SupervisorPrompt) -> str:
    """The prompt as descriptions give it: its halves, then the workers' prompts that belong to it."""
    own = [f"# {name} {prompt.agents[name]}\n\n{text}" for name, text in prompt.agent_texts.items()]
    return "\n".join([f"{prompt.system}\n\n{prompt.task}\n", *own])


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
        settings = settings_of(variant)
        if settings.supervisor in MODES:
            given_plan(MODES[settings.supervisor], settings.plan)
        path = plan_file(variant)
        return "" if path is None else path.read_text(encoding="utf-8")
    except (OSError, TriageError) as error:
        raise ConfigurationError(f"variant {variant.name}: {error}") from error


def plan_file(variant: Variant) -> Path | None:
    """The file of the plan a variant starts from, if it does. Raises PlanError where there is none."""
    plan = settings_of(variant).plan
    return None if plan is None else plan_path(plan)


def prompt_of(info: VariantInfo, _root: Path) -> SupervisorPrompt | None:
    """The prompt that a description is of, to be handed to whoever runs the variant.

    Raises:
        CannotJudgeError: the prompt's file, or the plan's, holds something else by now.
    """
    if describe(info.variant, Path()).prompt_digest != info.prompt_digest:
        raise CannotJudgeError(
            f"variant {info.variant.name}: {info.prompt_source} changed while the run was under way; run it again"
        )
    return configuration_of(info.variant).prompt


def describe(variant: Variant, root: Path) -> VariantInfo:
    """The variant with the exact prompt texts it runs, and the plan behind them, if any: all make up the digest.
    `prompt_source` is relative to `root` where it can be.

    Raises:
        ConfigurationError: the variant cannot be configured, see `configuration_of` and `plan_text`.
    """
    prompt, source = configuration_of(variant).prompt, _supervisor(variant)[1]
    plan, workers = plan_text(variant), [one for one in _named(variant) if one.path.startswith(_WORKERS)]
    if prompt is None and not workers:
        return VariantInfo(variant=completed(variant))
    own = [] if prompt is None else [_text_of(prompt)]
    told = [prompt.digest if prompt else "", plan, *(one.text for one in workers)]
    versions = [*([prompt.version] if prompt else []), *(f"{one.name} {Path(one.spec).name}" for one in workers)]
    return VariantInfo(
        variant=completed(variant),
        prompt_version=" ".join(versions),
        prompt_digest=hashlib.sha256("\n".join(told).encode()).hexdigest() if any(told[1:]) else told[0],
        prompt_source=_relative(source.resolve(), root) if source else workers[0].path,
        prompt_text="\n".join([*own, *(f"# {one.path}\n\n{one.text}" for one in workers)]),
        plan_text=plan,
    )


_WORKERS: Final = "triage/prompts/agents/"


def worker_texts(variant: Variant) -> dict[str, str]:
    """Prompt of a worker -> its text, where the variant names it. Raises ConfigurationError."""
    return {Path(one.path).stem: one.text for one in _named(variant) if one.path.startswith(_WORKERS)}


def _supervisor(variant: Variant) -> tuple[SupervisorPrompt | None, Path | None]:
    """The router's prompt, if the variant names one, and its file: in `prompt`, or as `supervisor` in `prompts`."""
    named = {one.path: one for one in _named(variant)}
    own = next((one for one in named.values() if one.version), None)
    prompt = settings_of(variant).prompt
    if own and prompt is not None:
        raise ConfigurationError("`prompt` and `prompts: supervisor` name the same prompt; leave one out")
    if own is None and prompt is None:
        return None, None
    spec = Path(own.version if own else prompt or "")
    path = spec if spec.suffix == ".md" else _PACKAGE / "supervisor" / f"{spec}.md"
    own = own or named.get(_relative(path.resolve(), _PACKAGE.parent.parent))
    if own is None:
        return load_supervisor_prompt(str(spec)), path
    return triage.prompts.parse_supervisor_prompt(own.text, source=own.spec), path


def prompts_named(variant: Variant, root: Path) -> tuple[NamedPrompt, ...]:  # noqa: ARG001 - paths are from the package
    """The prompts of `prompts`, and the router's where `prompt` names it. Raises ConfigurationError."""
    prompt, path = settings_of(variant).prompt, _supervisor(variant)[1]
    if prompt is None or path is None:
        return _named(variant)
    top = _PACKAGE.parent.parent
    spec = os.path.relpath(path.resolve(), top) if prompt.endswith(".md") else prompt
    place = _relative(path.resolve(), top)
    return (*_named(variant), NamedPrompt("supervisor", spec, place, path.read_text(encoding="utf-8")))


def _named(variant: Variant) -> tuple[NamedPrompt, ...]:
    """What `prompts` of a variant says, sorted by path. Raises ConfigurationError."""
    if not variant.prompts:
        return ()
    if "agents" in variant.prompts:
        raise ConfigurationError("there is no prompt 'agents'; name the prompts of workers one by one")
    files = sorted([*(_PACKAGE / "agents").rglob("*.md"), *(_PACKAGE / "supervisor").glob("*.md")])
    return named_prompts(variant.prompts, files, _PACKAGE.parent.parent, {})


def _settings(variant: Variant) -> RulesSettings:
    settings = settings_of(variant)
    if settings.rules is None:
        return RulesSettings()
    if settings.supervisor != "rules":
        raise ConfigurationError(f"`rules` are settings of supervisor 'rules', not of {settings.supervisor!r}")
    return RulesSettings(**settings.rules.model_dump())


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def worker_files(root: Path) -> tuple[PromptFile, ...]:
    """The prompts of all workers."""
    return tuple(_file(path, root) for path in sorted((_PACKAGE / "agents").rglob("*.md")))


def supervisor_files(infos: Iterable[VariantInfo], root: Path) -> dict[str, PromptFile]:
    """The supervisor's prompt of each variant that has one, by the variant's name."""
    found = {}
    for info in infos:
        prompt, path = _supervisor(info.variant)
        if prompt is not None and path is not None:
            own = next((one for one in _named(info.variant) if one.version), None)
            version, text = (own.spec, own.text) if own else (prompt.version, None)
            found[info.variant.name] = _file(path, root, version, digest(prompt.system), text)
    return found


def _file(path: Path, root: Path, version: str = "", system: str = "", text: str | None = None) -> PromptFile:
    path = path.resolve()
    shown = _relative(path, root if path.is_relative_to(root) else _PACKAGE.parent.parent)
    text = path.read_text(encoding="utf-8") if text is None else text
    return PromptFile(shown, tuple(text.splitlines()), version, system)


def graph_sources() -> list[Path]:
    """Code and agent prompts of the graph, sorted. Supervisor prompts are left out: each variant brings its own."""
    root = Path(triage.state.__file__).parent
    found = [*root.rglob("*.py"), *root.rglob("*.md")]
    return sorted(path for path in found if path.parent.name != "supervisor")
