"""Sides of a comparison of one's own graph: a variant, also with a prompt from a file or as of a git revision."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from evals.errors import ConfigurationError, nearest_name
from evals.models.suite import EVERY_PROMPT, Suite, Variant
from evals.named_prompts import PREFIX, commit_of
from evals.target.target_settings import prompt_files
from evals.workspace import Workspace


def target_sides(specs: Sequence[str], suite: Suite, workspace: Workspace, *, alone: bool) -> list[Variant]:
    """The sides in order; a lone revision is compared with the working tree, unless others are stored (not `alone`).

    Raises ConfigurationError: as `operands`.
    """
    known = {variant.name: variant for variant in suite.variants}
    own = next((known[spec] for spec in specs if spec in known), known[suite.candidate])
    if alone and len(specs) == 1 and specs[0].startswith(PREFIX):
        specs = [specs[0], specs[0].removeprefix(PREFIX).partition(":")[2] or own.name]
    if alone and len(specs) < 2:
        raise ConfigurationError(f"{' '.join(specs)}: nothing to compare it with; name two, or one git:REV")
    sides = _Sides(own, known, workspace)
    return [sides.side(spec) for spec in specs]


@dataclass(frozen=True)
class _Sides:
    """Reads the sides; what a side does not name is as in the variant `own`."""

    own: Variant
    variants: Mapping[str, Variant]
    workspace: Workspace

    def side(self, spec: str) -> Variant:
        """The variant that a side means. Raises ConfigurationError where it is no variant, prompt file or revision."""
        if spec in self.variants:
            return self.variants[spec]
        if not spec.startswith(PREFIX):
            path = self._file(spec, spec)
            return self._with(path, path, spec)
        revision, _, what = spec.removeprefix(PREFIX).partition(":")
        if not revision:
            raise ConfigurationError(f"{spec}: names no revision; write git:REV, or git:REV:VERSION")
        commit_of(self.workspace.root, revision)
        if not what or what in self.variants:
            return self._as_of(self.variants.get(what, self.own), f"{PREFIX}{revision}", revision)
        path = what if what.endswith(".md") else self._file(what, spec)
        return self._with(path, f"{PREFIX}{revision}:{path}", f"{what}@{revision}")

    def _as_of(self, variant: Variant, source: str, revision: str) -> Variant:
        """All prompts of a variant as of a revision; all files, where it names none."""
        named = self.workspace.pack.prompts_named(variant, self.workspace.root)
        by_name = {each.name: f"{source}:{each.spec}" for each in named if each.name in variant.prompts}
        prompts = by_name | {each.path: source for each in named if each.name not in variant.prompts}
        name = f"{variant.name}@{revision}"
        return variant.model_copy(update={"name": name, "prompts": prompts or {EVERY_PROMPT: source}})

    def _with(self, path: str, source: str, name: str) -> Variant:
        """`own` with `source` in the place of its prompt that stands in the same folder as `path`, or of its only one.

        Raises ConfigurationError where that is no single one.
        """
        mine = self.workspace.pack.prompts_named(self.own, self.workspace.root)
        beside = [each for each in mine if Path(each.path).parent == Path(path).parent] or mine
        if len(beside) != 1:
            which = f"{self.own.name} names {len(mine)} prompts"
            raise ConfigurationError(f"{path}: {which}; write a variant whose `prompts:` says what it replaces")
        prompt = beside[0].name if beside[0].name in self.own.prompts else beside[0].path
        return self.own.model_copy(update={"name": name, "prompts": {**self.own.prompts, prompt: source}})

    def _file(self, what: str, spec: str) -> str:
        """The path from the root of a prompt file, or of the version `what`."""
        root = self.workspace.root
        if what.endswith(".md"):
            if not Path(what).is_file():
                self._refuse(spec, "no such prompt file; name one, or a variant: ")
            return Path(os.path.relpath(what, root)).as_posix()
        found = [file for file in prompt_files(root) if file.stem == what]
        if len(found) != 1:
            self._refuse(spec, "neither a variant nor a prompt file; there are ")
        return found[0].relative_to(root).as_posix()

    def _refuse(self, spec: str, why: str) -> NoReturn:
        raise ConfigurationError(f"{spec}: {why}{', '.join(self.variants)}{nearest_name(spec, self.variants)}")
