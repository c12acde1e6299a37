"""The judge's prompts: a version is a folder with two files, their digests are in every request they write."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from evals.errors import ConfigurationError

HERE: Final = Path(__file__).parent / "prompts"
MARK: Final = "<!-- human -->"
Kind = Literal["rubric", "pair"]
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
PLACEHOLDERS: Final[dict[Kind, frozenset[str]]] = {
    "rubric": frozenset({"issue", "findings", "answers", "report", "comment", "ticket", "cause", "words"}),
    "pair": frozenset({"issue", "cause", "first", "second"}),
}


@dataclass(frozen=True)
class JudgePrompt:
    """One prompt: its system half, and the human half with its placeholders."""

    path: Path
    system: str
    human: str

    def filled(self, values: Mapping[str, str]) -> str:
        """The human half with the values in their places; braces inside a value stay what they are."""
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.human)


@dataclass(frozen=True)
class Prompts:
    """Both prompts of a version."""

    version: str
    rubric: JudgePrompt
    pair: JudgePrompt

    @property
    def files(self) -> tuple[JudgePrompt, ...]:
        """Both, as files whose lines a changed request leads back to."""
        return self.rubric, self.pair


def load_prompts(version: str, folder: Path | None = None) -> Prompts:
    """The prompts of a version.

    Raises:
        ConfigurationError: there is no such version, or a file that is no prompt.
    """
    folder = folder or HERE
    known = versions(folder)
    if version not in known:
        raise ConfigurationError(f"judge: {version}: no such version; there is {', '.join(known)}")
    return Prompts(version, _load(folder / version, "rubric"), _load(folder / version, "pair"))


def versions(folder: Path) -> tuple[str, ...]:
    """The versions there are."""
    return tuple(sorted(path.name for path in folder.iterdir() if path.is_dir()))


def _load(folder: Path, kind: Kind) -> JudgePrompt:
    path = folder / f"{kind}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error}); a version has rubric.md and pair.md") from error
    system, *rest = re.split(rf"^{re.escape(MARK)}\s*$", text, flags=re.MULTILINE)
    if len(rest) != 1 or not system.strip() or not rest[0].strip():
        raise ConfigurationError(f"{path}: write exactly one line {MARK} with text above and below it")
    if set(_PLACEHOLDER.findall(rest[0])) != PLACEHOLDERS[kind]:
        named = ", ".join(f"{{{name}}}" for name in sorted(PLACEHOLDERS[kind]))
        raise ConfigurationError(f"{path}: below {MARK} name each of {named}, and nothing else in braces")
    return JudgePrompt(path, system.strip(), rest[0].strip())
