"""Earlier versions of prompts, read from git."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from unidiff.patch import PatchSet

from evals.application_pack import Pack
from evals.errors import ConfigurationError
from evals.models.run import Baseline, EarlierPrompt, EditedPrompt, VariantInfo
from evals.shared.git_command import DistrustError, GitError, NoGitError, git

Stretch = tuple[str, int, int]
"""(path from the checkout's root, first changed line, last changed line), lines of the file as it is now."""


def changed_lines(infos: Iterable[VariantInfo], root: Path, base: str, pack: Pack) -> tuple[Stretch, ...]:
    """Changed stretches of the shipped prompts and of the variants' own files, since this branch left `base`.

    Where lines only went, the line that stands there now. Empty without git, repository or revision: an annotation is
    an extra, and nothing fails for the lack of one.
    """
    files = sorted({pack.prompt_folder, *(info.prompt_source for info in infos if info.prompt_source.endswith(".md"))})
    fork = fork_of(root, base)
    if not fork:
        return ()
    words = ("diff", "--unified=0", "--no-color", "--relative", "--src-prefix=a/", "--dst-prefix=b/")
    patch = _told(root, *words, fork, "--", *files)
    return tuple(_stretches(PatchSet(patch)))


def fork_of(root: Path, base: str) -> str:
    """The commit at which this branch left `base`; empty where there is none."""
    return _told(root, "merge-base", "--end-of-options", base, "HEAD").strip()


def edited_files(root: Path, base: str) -> tuple[str, ...]:
    """The files, from `root`, whose content differs from that of the fork with `base`; empty where git cannot tell."""
    fork = fork_of(root, base)
    return tuple(_told(root, "diff", "--name-only", "--relative", fork, "--").splitlines()) if fork else ()


def usual_base() -> str:
    """Where changes are counted from: the base of the pull request on GitHub, elsewhere the last commit."""
    base = os.environ.get("GITHUB_BASE_REF")
    return f"origin/{base}" if base else "HEAD"


def _stretches(patch: PatchSet) -> Iterable[Stretch]:
    for file in patch:
        if not file.is_removed_file and file.path.endswith(".md"):
            for hunk in file:
                first = max(hunk.target_start, 1)
                yield file.path, first, first + max(hunk.target_length, 1) - 1


def _told(root: Path, *words: str) -> str:
    """What git prints; nothing if it cannot."""
    try:
        return git(root, *words).decode("utf-8", errors="replace")
    except GitError:
        return ""


PREFIX: Final = "git:"


@dataclass(frozen=True)
class PromptRevision:
    """`git:REV:WHAT`: a revision, and a prompt version or the path of a `.md` file in it, from the checkout's root."""

    revision: str
    what: str
    versions: str = ""
    """The folder of the versions, from the checkout's root."""

    @classmethod
    def parse(cls, spec: str, otherwise: str, pack: Pack) -> Self:
        """The revision that `spec` names; `git:REV` alone means the prompt `otherwise`.

        Raises:
            ConfigurationError: no revision is named.
        """
        revision, _, what = spec.removeprefix(PREFIX).partition(":")
        if not revision:
            raise ConfigurationError(
                f"{spec}: names no revision; write git:REV, git:REV:v3 or git:REV:path/to/prompt.md"
            )
        return cls(revision, what or otherwise, pack.version_folder)

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.what}@{self.revision}"

    @property
    def path(self) -> str:
        """The file, from the checkout's root."""
        return self.what if self.what.endswith(".md") else f"{self.versions}/{self.what}.md"

    def read(self, root: Path) -> str:
        """The text of the file as of the revision.

        Raises:
            ConfigurationError: no git, no repository, no such revision, or no such file in it.
        """
        return text_at(root, self.revision, self.path)


def commit_of(root: Path, revision: str) -> str:
    """The commit that a revision names. Raises ConfigurationError: no git, no repository, or no such revision."""
    _told_revision(root, "rev-parse", "--git-dir", otherwise=f"{root} is no git repository; name a prompt file instead")
    return _told_revision(
        root,
        *("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"),
        otherwise=f"{PREFIX}{revision}: no such revision; `git log --oneline` lists them",
    ).strip()


def text_at(root: Path, revision: str, path: str) -> str:
    """The text of a file, whose path is from `root`, as of a revision. Raises ConfigurationError as `commit_of`, or if
    the revision does not have the file."""
    missing = f"{PREFIX}{revision}: there is no {path} in that revision"
    return _told_revision(root, "cat-file", "blob", f"{commit_of(root, revision)}:./{path}", otherwise=missing)


def _told_revision(root: Path, *words: str, otherwise: str) -> str:
    """What git prints; if it fails, the error says `otherwise`."""
    try:
        return git(root, *words).decode("utf-8")
    except NoGitError as error:
        raise ConfigurationError("git is not installed; name a prompt file instead of a revision") from error
    except DistrustError as error:
        raise ConfigurationError(f"{root}: {error}") from error
    except GitError as error:
        raise ConfigurationError(otherwise) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{words[-1]}: not UTF-8 at byte {error.start}") from error


def with_committed(infos: Sequence[VariantInfo], root: Path, base: str, pack: Pack) -> tuple[VariantInfo, ...]:
    """The variants, those whose prompt file changed since this branch left `base` with the text from before.

    Without git, repository or revision, and where the old file holds no prompt, nothing is known: an old text is an
    extra, and nothing fails for the lack of one.
    """
    changed = {path for path, _, _ in changed_lines(infos, root, base, pack)}
    fork = fork_of(root, base) if changed else ""
    return tuple(
        _told_prompt_committed(info, root, fork, pack) if info.prompt_source in changed else info for info in infos
    )


def _told_prompt_committed(info: VariantInfo, root: Path, fork: str, pack: Pack) -> VariantInfo:
    spec = f"{PREFIX}{fork}:{info.prompt_source}"
    try:
        text = PromptRevision.parse(spec, info.prompt_source, pack).read(root)
        before = pack.prompt_text(text, spec)
    except ConfigurationError:
        return info
    earlier = EarlierPrompt(since="committed", text=before)
    return info if before == info.prompt_text else info.model_copy(update={"earlier": earlier})


def worker_prompts(infos: Sequence[VariantInfo], root: Path, pack: Pack) -> dict[str, tuple[str, ...]]:
    """Path -> lines of the prompts that belong to no variant, without other versions of a variant's own prompt."""
    own = {Path(info.prompt_source).parent for info in infos if info.prompt_source}
    found = ((Path(file.path), file) for file in pack.worker_prompts(root))
    return {file.path: file.lines for path, file in found if path.parent not in own and not path.stem.isupper()}


def edited_prompts(
    infos: Sequence[VariantInfo], root: Path, base: str, pack: Pack, baseline: Baseline | None
) -> tuple[EditedPrompt, ...]:
    """Those of `worker_prompts` that were edited since they were blessed; where that is not known, since this branch
    left `base`."""
    changed = {path for path, _, _ in changed_lines(infos, root, base, pack)}
    blessed = baseline.worker_prompts if baseline else {}
    found = []
    for path, lines in worker_prompts(infos, root, pack).items():
        if path in blessed:
            earlier = EarlierPrompt(since="blessed", text="\n".join(blessed[path]))
        elif path in changed:
            before = _told(root, "cat-file", "blob", f"{fork_of(root, base)}:./{path}")
            earlier = EarlierPrompt(since="committed", text=before)
        else:
            continue
        if earlier.text and tuple(earlier.text.splitlines()) != lines:
            found.append(EditedPrompt(path=path, text="\n".join(lines), earlier=earlier))
    return tuple(found)
