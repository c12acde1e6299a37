"""Prompts that a variant names: by version, by file, as of a git revision, or with hunks of the way to another one.

A prompt is called by the name of its file, without the ending (`prompts/clerk.md`: `clerk`), or of the folder that its
versions stand in (`prompts/desk/v1.md`: `desk`). A file may have versions in a folder of its name beside it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evals.errors import ConfigurationError, nearest_name
from evals.models.suite import EVERY_PROMPT
from evals.prompt_history import PREFIX, commit_of, text_at
from evals.prompt_hunks import HunkSpec


@dataclass(frozen=True)
class NamedPrompt:
    """One prompt of a variant: the graph gets `text` for the file at `path`, which is from the root. `version` is what
    the graph has to be told where there is no file but only a folder of versions; `spec` is what the suite says."""

    name: str
    spec: str
    path: str
    text: str
    version: str = ""


def named_prompts(
    prompts: Mapping[str, str], files: Sequence[Path], root: Path, told: Mapping[str, object]
) -> tuple[NamedPrompt, ...]:
    """The prompts that a variant names in `prompts`, sorted by path. `files` are all prompt files below `root`; `told`
    are versions that the variant names elsewhere.

    Raises:
        ConfigurationError: no such prompt, version, file or revision.
    """
    found: dict[str, NamedPrompt] = {}
    if EVERY_PROMPT in prompts:
        found = {one.path: one for one in _every(prompts[EVERY_PROMPT], files, root)}
    for name, spec in prompts.items():
        if name != EVERY_PROMPT:
            one = _named(name, spec, files, root, told)
            found[one.path] = one
    return tuple(found[path] for path in sorted(found))


def _every(spec: str, files: Sequence[Path], root: Path) -> list[NamedPrompt]:
    """All files as of a revision; one that it does not have stays as it is."""
    revision = spec.removeprefix(PREFIX)
    if not spec.startswith(PREFIX) or ":" in revision:
        raise ConfigurationError(f"prompts: {spec}: for all prompts at once write git:REV, else NAME: VERSION")
    found, commit = [], commit_of(root, revision)
    for file in files:
        path = file.relative_to(root).as_posix()
        with suppress(ConfigurationError):
            found.append(NamedPrompt(file.stem, spec, path, text_at(root, commit, path)))
    return found


def _named(name: str, spec: str, files: Sequence[Path], root: Path, told: Mapping[str, object]) -> NamedPrompt:
    own = [file for file in files if name in (file.stem, file.relative_to(root).as_posix())]
    versions = {file.stem: file for file in files if file.parent.name == name}
    if len(own) > 1:
        paths = " and ".join(file.relative_to(root).as_posix() for file in own)
        raise ConfigurationError(f"prompt {name!r} is {paths}; write one of these paths")
    if not own and not versions:
        known = sorted({file.stem for file in files} | {file.parent.name for file in files})
        hint = nearest_name(name, known) or f"; there are {', '.join(known) or 'none: name their files in `prompts`'}"
        raise ConfigurationError(f"there is no prompt {name!r} among the prompt files{hint}")
    if hunks := HunkSpec.parse(spec):
        sides = [_named(name, side, files, root, told) for side in (hunks.old, hunks.new)]
        base = sides[hunks.sign == "-"]
        return replace(base, spec=spec, text=hunks.text(sides[0].text, sides[1].text))
    if spec.startswith(PREFIX):
        return _at_revision(name, spec, own, versions, root, told)
    file = versions.get(spec) or root / spec
    if not file.is_file():
        has = f"it has {', '.join(versions)}" if versions else "name a file, git:REV, or put versions into a folder"
        raise ConfigurationError(f"prompt {name!r} has no version {spec!r}; {has}")
    version = "" if own else spec if spec in versions else next(iter(versions))  # in place of the first one
    place = own[0] if own else versions[version]
    text = file.read_text(encoding="utf-8")
    return NamedPrompt(name, spec, place.relative_to(root).as_posix(), text, version)


def _at_revision(
    name: str, spec: str, own: Sequence[Path], versions: Mapping[str, Path], root: Path, told: Mapping[str, object]
) -> NamedPrompt:
    revision, _, what = spec.removeprefix(PREFIX).partition(":")
    if not revision:
        raise ConfigurationError(f"{spec}: names no revision; write git:REV, or git:REV:VERSION")
    version = what or str(told.get(name) or "")
    if not own and not version:
        raise ConfigurationError(f"prompt {name!r} is a folder of versions; write {spec}:{next(iter(versions))}")
    example = own[0] if own else next(iter(versions.values()))
    folder = next(iter(versions.values())).parent if versions else example.with_suffix("")
    asked = root / what if "/" in what else folder / f"{version}{example.suffix}"
    source = (own[0] if own and not what else asked).relative_to(root).as_posix()
    text = text_at(root, revision, source)
    if own:
        return NamedPrompt(name, spec, own[0].relative_to(root).as_posix(), text)
    return NamedPrompt(name, spec, source, text, asked.stem)
