"""Variants as the harness shows and checks them. Light: importing this loads neither LangGraph nor Chroma."""

from pathlib import Path

import triage.prompts
from evals.errors import ConfigurationError
from evals.models.run import VariantInfo
from evals.models.suite import Variant
from triage.errors import TriageError
from triage.guards import guard_set
from triage.prompts import SupervisorPrompt, load_supervisor_prompt


def prompt_of(variant: Variant) -> SupervisorPrompt:
    """The prompt a variant names.

    Raises:
        ConfigurationError: no such version or file, or one that does not render.
    """
    try:
        return load_supervisor_prompt(variant.prompt)
    except (OSError, ValueError, TriageError) as error:
        raise ConfigurationError(f"variant {variant.name}: {error}") from error


def describe(variant: Variant, root: Path) -> VariantInfo:
    """The variant with the exact prompt text it runs; `prompt_source` is relative to `root` where it can be.

    Raises:
        ConfigurationError: the variant names a prompt or a guard set that does not exist.
    """
    prompt = prompt_of(variant)
    try:
        guard_set(variant.guards)
    except TriageError as error:
        raise ConfigurationError(f"variant {variant.name}: {error}") from error
    spec = Path(variant.prompt)
    source = spec if spec.suffix == ".md" else Path(triage.prompts.__file__).parent / "supervisor" / f"{spec}.md"
    return VariantInfo(
        variant=variant,
        prompt_version=prompt.version,
        prompt_digest=prompt.digest,
        prompt_source=_relative(source.resolve(), root),
        prompt_text=f"{prompt.system}\n\n{prompt.task}\n",
    )


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
