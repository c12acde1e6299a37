"""The prompts as they were before somebody edited them: what a report compares an edited file with."""

from collections.abc import Sequence
from pathlib import Path

import triage.prompts
from evals.errors import ConfigurationError
from evals.models.run import EarlierPrompt, VariantInfo
from evals.subject.prompt_changes import changed_lines, fork_of
from evals.subject.revision import PREFIX, PromptRevision
from triage.errors import TriageError


def with_committed(infos: Sequence[VariantInfo], root: Path, base: str) -> tuple[VariantInfo, ...]:
    """The variants, those whose prompt file changed since this branch left `base` with the text from before.

    Without git, repository or revision, and where the old file holds no prompt, nothing is known: an old text is an
    extra, and nothing fails for the lack of one.
    """
    changed = {path for path, _, _ in changed_lines(infos, root, base)}
    fork = fork_of(root, base) if changed else ""
    return tuple(_told(info, root, fork) if info.prompt_source in changed else info for info in infos)


def _told(info: VariantInfo, root: Path, fork: str) -> VariantInfo:
    spec = f"{PREFIX}{fork}:{info.prompt_source}"
    try:
        text = PromptRevision.parse(spec, info.prompt_source).read(root)
        prompt = triage.prompts.parse_supervisor_prompt(text, source=spec)
    except (ConfigurationError, TriageError):
        return info
    before = f"{prompt.system}\n\n{prompt.task}\n"
    earlier = EarlierPrompt(since="committed", text=before)
    return info if before == info.prompt_text else info.model_copy(update={"earlier": earlier})
