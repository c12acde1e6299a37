"""The files requests get their fixed text from, line by line: changed text leads back to where it is written."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import triage.prompts
from evals.cassette.nearest import digest
from evals.models.run import VariantInfo
from evals.subject.prompt import configuration_of

_PACKAGE = Path(triage.prompts.__file__).parent


@dataclass(frozen=True)
class PromptFile:
    """A prompt as it is written: `lines` of the whole file, `{names}` not filled in.

    `path` is relative to the checkout, or to the package where it is not in there. A worker's file belongs to no
    variant; `digest` names the system half of a supervisor's.
    """

    path: str
    lines: tuple[str, ...]
    version: str = ""
    digest: str = ""


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
