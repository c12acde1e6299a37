"""Sides of a comparison: stored runs, baselines, result files; variants, also of another prompt file or revision."""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NoReturn

from evals.application_pack import Pack, load_pack
from evals.comparison.assemble_run import case_info
from evals.comparison.baseline import load_baseline, path_of
from evals.comparison.stored_side import StoredSide, is_own, side_of_baseline, side_of_results, side_of_run
from evals.errors import ConfigurationError, EvalsError, nearest_name
from evals.external_results import read_results
from evals.models.suite import EVERY_PROMPT, Suite, Variant
from evals.project import ANY_GRAPH, Project
from evals.prompt_versions import PREFIX, commit_of, text_at
from evals.report.run_files import read_run
from evals.scoring.registry import scorer_infos
from evals.suites.suite_files import read_suite
from evals.target.target_settings import prompt_files
from evals.workspace import Workspace

BASELINE: Final = "baseline:"
RUN: Final = "run.json"
_FILE: Final = re.compile(r"(?P<path>.+?\.(?:json|jsonl|csv|eval))(?::(?P<variant>.+))?")
_FOLDER: Final = re.compile(r"(?P<path>[^:]+)(?::(?P<variant>.+))?")


def is_stored(spec: str) -> bool:
    """Whether a side is a file of results or a baseline, so that nothing is replayed for it."""
    if spec.startswith(BASELINE) or _FILE.fullmatch(spec):
        return True
    folder = _FOLDER.fullmatch(spec)
    is_path = folder is not None and "/" in folder["path"] and not spec.endswith(".md")
    return folder is not None and (is_path or (Path(folder["path"]) / RUN).is_file())


def read_sides(specs: Sequence[str], root: Path, suite: str, *, one_each: bool = False) -> dict[str, list[StoredSide]]:
    """The stored sides among `specs`, by how they were typed; none if no side is stored. `git:REV` beside a stored side
    is the baseline of the same suite, else of `suite`, as blessed at REV. A file alone gives all its variants, unless
    `one_each`.

    Raises:
        ConfigurationError: no such file, baseline, variant or revision, or no format that is known.
        CannotJudgeError: a baseline cannot be trusted.
    """
    if not any(map(is_stored, specs)):
        return {}
    found = {
        spec: _read(spec, root, suite, alone=len(specs) == 1 and not one_each) for spec in specs if is_stored(spec)
    }
    suites = [side.rests_on["suite"] for sides in found.values() for side in sides if "suite" in side.rests_on]
    for spec in specs:
        if spec.startswith(PREFIX) and ":" not in spec.removeprefix(PREFIX):
            same = suites[0] if suites else suite
            found[spec] = _read(f"{BASELINE}{same}@{spec.removeprefix(PREFIX)}", root, suite, alone=False)
    return found


def _read(spec: str, root: Path, suite: str, *, alone: bool) -> list[StoredSide]:
    if spec.startswith(BASELINE):
        name, _, revision = spec.removeprefix(BASELINE).partition("@")
        of, _, variant = name.partition("/")
        path = _at(revision, path_of(root / Project.at(root).baselines, of), root)
        return [_blessed(path, variant, revision or "baseline", root, suite)]
    revision, plain = "", spec
    if spec.startswith(PREFIX):
        revision, _, plain = spec.removeprefix(PREFIX).partition(":")
    found = _FILE.fullmatch(plain) or _FOLDER.fullmatch(plain)
    if found is None:
        raise ConfigurationError(f"{spec}: name a file, or FILE:VARIANT")
    path = Path(found["path"])
    path = path / RUN if found.re is _FOLDER else path
    source = path.parent.name or path.stem if path.name == RUN else path.stem
    path = _at(revision, root.resolve() / path, root) if revision else path
    return _of_file(path, found["variant"] or "", revision or source, root, suite, alone=alone)


def _at(revision: str, path: Path, root: Path) -> Path:
    """The file, or a copy below the caches of what it was at a revision."""
    if not revision:
        return path
    text = text_at(root, revision, Path(os.path.relpath(path.resolve(), root.resolve())).as_posix())
    copy = root / ".cache" / "compare" / hashlib.sha256(text.encode()).hexdigest()[:16] / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    return copy


def _of_file(path: Path, variant: str, source: str, root: Path, suite: str, *, alone: bool) -> list[StoredSide]:
    """The asked variant of a file of any kind; the usual one if none is named."""
    members = _members(path)
    if {"trials", "comparisons"} <= members:
        run = read_run(path)
        names = [info.variant.name for info in run.variants]
        chosen = _chosen(names, variant, names if alone else [run.candidate], path)
        return [side_of_run(run, name, source) for name in chosen]
    if {"hard_violations", "values"} <= members:
        return [_blessed(path, variant, source, root, suite)]
    results = read_results(path)
    found = results.variants
    chosen = _chosen(found, variant, found if alone or len(found) == 1 else [], path)
    return [side_of_results(results, name, source) for name in chosen]


def _members(path: Path) -> set[str]:
    """The members of a JSON object; none of any other file."""
    if path.suffix != ".json":
        return set()
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ConfigurationError(f"{path}: not JSON ({error})") from error
    return set(found) if isinstance(found, dict) else set()


def _chosen(names: Sequence[str], asked: str, usual: Sequence[str], path: Path) -> Sequence[str]:
    if asked and asked not in names:
        raise ConfigurationError(f"{path}: no variant {asked}; it has {', '.join(names)}{nearest_name(asked, names)}")
    if not asked and not usual:
        raise ConfigurationError(f"{path}: has the variants {', '.join(names)}; name one, as in {path.name}:{names[0]}")
    return [asked] if asked else usual


def _blessed(path: Path, variant: str, source: str, root: Path, suite: str) -> StoredSide:
    """A variant of a baseline file; the candidate of its suite if none is named. `suite` is the one that was asked for:
    it may be a file that no name leads to."""
    baseline = load_baseline(path)
    if baseline is None:
        raise ConfigurationError(f"{path}: there is no such baseline; `evals bless SUITE` writes one")
    workspace = Workspace.at(root)
    own = _suite_called(baseline.suite, (suite, baseline.suite), root)
    names = [name for name, values in baseline.values.items() if values]
    usual = [own.candidate] if own and own.candidate in names else names if len(names) == 1 else []
    (name,) = _chosen(names, variant, usual, path)
    try:
        cases = {name: case_info(case) for name, case in workspace.pack.load_cases(workspace.datasets).items()}
    except EvalsError:  # cases that are gone or broken: their values are there all the same
        cases = {}
    return side_of_baseline(baseline, name, source, cases, scorer_infos(workspace.pack, own.primary if own else ()))


def _suite_called(name: str, asked: Sequence[str], root: Path) -> Suite | None:
    """The first suite that has the name and can be read."""
    for each in asked:
        with suppress(EvalsError):
            if (found := read_suite(each, root)).name == name:
                return found
    return None


def pack_of(sides: Sequence[StoredSide], root: Path) -> Pack:
    """The pack that measures whole variants: that of the project, unless a side was scored by another tool."""
    return load_pack(None if is_own(sides) else ANY_GRAPH, root)


def named_apart(sides: Sequence[StoredSide]) -> list[StoredSide]:
    """The sides with names of their own: `v5`, or `v5@latest` where several are called v5. Of a long source the end."""
    sides = [replace(side, source=f"…{side.source[-8:]}") if len(side.source) > 30 else side for side in sides]
    often = Counter(side.name for side in sides)
    taken: Counter[str] = Counter()
    found = []
    for side in sides:
        name = f"{side.name}@{side.source}" if often[side.name] > 1 else side.name
        taken[name] += 1
        found.append(_renamed(side, name if taken[name] == 1 else f"{name}-{taken[name]}"))
    return found


def _renamed(side: StoredSide, name: str) -> StoredSide:
    variant = side.info.variant.model_copy(update={"name": name})
    trials = [
        trial.model_copy(update={"trace": trial.trace.model_copy(update={"variant": name})}) for trial in side.trials
    ]
    return replace(side, info=side.info.model_copy(update={"variant": variant}), trials=trials)


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
