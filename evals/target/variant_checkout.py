"""Files that a variant of a target runs: the working tree or a git revision, with the prompts that it names."""

import atexit
import builtins
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from filelock import FileLock, Timeout

from evals import atomic_files
from evals.errors import ConfigurationError
from evals.prompt_versions import NamedPrompt, commit_of, named_prompts, text_at
from evals.safe_yaml import read_text
from evals.shared.git_command import GitError, git, write_commit
from evals.target.target_settings import TargetSettings, prompt_files, shown_path

if TYPE_CHECKING:
    from evals.models.suite import Variant

_LOCK: Final = ".lock"
_locks: Final[list[FileLock]] = []


@dataclass(frozen=True)
class VariantFiles:
    """What a variant runs. `commit` is that of its `revision` (empty: the working tree), and `root` the project's root
    there, None until `checked_out`."""

    project: Path
    revision: str = ""
    commit: str = ""
    prompts: tuple[NamedPrompt, ...] = ()
    root: Path | None = None

    @classmethod
    def of(cls, variant: "Variant", root: Path) -> "VariantFiles":
        """Those of a variant of the project at `root`. Raises ConfigurationError."""
        try:
            revision = variant.revision or ""
            commit = commit_of(root, revision) if revision else ""
            prompts = named_prompts(variant.prompts, prompt_files(root), root, variant.config)
            if commit:
                _check(root, commit, revision)
        except ConfigurationError as error:
            raise ConfigurationError(f"variant {variant.name}: {error}") from error
        return cls(root, revision, commit, prompts)

    def all_prompts(self, variant: "Variant") -> tuple[NamedPrompt, ...]:
        """The prompts that the variant names in `prompts`, and by values of its `config`; sorted by path."""
        values = {str(value) for value in variant.config.values()}
        found = {prompt.path: prompt for prompt in self.prompts}
        for file in prompt_files(self.project):
            path = shown_path(file, self.project)
            text = self._text(path) if values & {file.stem, file.name} else None
            if path not in found and text is not None:
                found[path] = NamedPrompt(file.stem, file.stem, path, text)
        return tuple(found[path] for path in sorted(found))

    def _text(self, path: str) -> str | None:
        """The text of a file as the variant has it; None where it has no such file."""
        if not self.commit:
            return read_text(self.project / path)
        with suppress(ConfigurationError):
            return text_at(self.project, self.commit, path)
        return None

    @property
    def config(self) -> dict[str, str]:
        """Versions that the graph is told by name."""
        return {prompt.name: prompt.version for prompt in self.prompts if prompt.version}

    @property
    def shared(self) -> "VariantFiles":
        """What decides of a process what it imports and reads: variants that have this in common share one."""
        texts = self.texts.items()
        return replace(self, prompts=tuple(NamedPrompt("", "", path, text) for path, text in texts))

    @property
    def process(self) -> str:
        """Names the processes that may run it: what a target has imported and read stays in a process."""
        told = [self.commit, *(f"{path}\0{text}" for path, text in self.texts.items())]
        return hashlib.sha256("\0".join([self.revision, *told]).encode()).hexdigest() if any(told) else ""

    @property
    def texts(self) -> dict[str, str]:
        """Path from the root -> the text in its place, where that is another."""
        found = {prompt.path: prompt.text for prompt in self.prompts}
        return {path: text for path, text in found.items() if self.commit or _read(self.project / path) != text}

    def swapped(self, other: "VariantFiles") -> list[str]:
        """Names of the prompt files that have another text in `other`, where nothing else differs."""
        if (self.commit, self.config) != (other.commit, other.config):
            return []
        mine, others = self.texts, other.texts
        return sorted(Path(path).stem for path in {*mine, *others} if mine.get(path) != others.get(path))

    def folder(self, settings: TargetSettings) -> Path:
        """The folder of `langgraph.json`."""
        return (self.root or self.project) / settings.folder

    def checked_out(self) -> "VariantFiles":
        """The same with the files of its commit written out. Raises ConfigurationError."""
        return replace(self, root=_checkout(self.project, self.commit)) if self.commit else self

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Whoever opens a prompt's file in this process reads the text of the variant."""
        root = self.root or self.project
        texts = {os.path.realpath(root / path): text for path, text in self.texts.items()}
        with _texts_in_place(texts, self.project) if texts else nullcontext():
            yield


def _read(path: Path) -> str | None:
    """The text on disk, also while `in_place` leads to another: trials may run side by side."""
    if not path.is_file():
        return None
    with os.fdopen(os.open(path, os.O_RDONLY), encoding="utf-8") as stream:
        return stream.read()


@contextmanager
def _texts_in_place(texts: Mapping[str, str], project: Path) -> Iterator[None]:
    """Inside the block `open` leads to files with these texts, which stand below the caches."""
    real, places = io.open, {path: _kept(path, text, project) for path, text in texts.items()}

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as `open`
        if isinstance(file, str | os.PathLike) and not set(mode) & set("wax+"):
            file = places.get(os.path.realpath(file), file)
        return real(file, mode, *args, **kwargs)

    io.open = builtins.open = opened
    try:
        yield
    finally:
        io.open = builtins.open = real


def _kept(path: str, text: str, project: Path) -> Path:
    folder = project / ".cache" / "prompts" / hashlib.sha256(text.encode()).hexdigest()[:16]
    place = folder / Path(path).name
    if not place.exists():
        atomic_files.write_files(folder, {place.name: text})  # other workers do the same
    return place


def _check(root: Path, commit: str, revision: str) -> None:
    """Raises ConfigurationError where the revision has no graph to run."""
    folder = TargetSettings.of(root).folder
    path = (Path(folder) / "langgraph.json").as_posix()
    try:
        git(root, "cat-file", "-e", f"{commit}:./{path}")
    except GitError as error:
        raise ConfigurationError(f"{revision} has no {path}; name a revision that has one") from error


@cache
def _checkout(root: Path, commit: str) -> Path:
    """The project as of a commit, in a folder that is removed when this process ends. What a process that was killed
    has left is removed before."""
    folder = root / ".cache" / "revisions"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        below = git(root, "rev-parse", "--show-prefix").decode().strip()
        with FileLock(folder / _LOCK):
            for left in folder.iterdir():
                if left.is_dir():
                    _remove_left(left)
            place = Path(tempfile.mkdtemp(prefix=f"{commit[:12]}-", dir=folder))
            lock = FileLock(place / _LOCK)
            lock.acquire()
        _locks.append(lock)  # held as long as this process lives
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        write_commit(root, commit, place / "tree")
    except (OSError, GitError) as error:
        raise ConfigurationError(f"{folder}: cannot hold the files of {commit[:12]} ({error})") from error
    return place / "tree" / below


def _remove_left(folder: Path) -> None:
    try:
        with FileLock(folder / _LOCK, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        return  # its process is alive
