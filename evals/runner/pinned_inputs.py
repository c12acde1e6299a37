"""Check that a run executes and reads exactly what its trials are named by."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.errors import CannotJudgeError
from evals.import_hook import executed
from evals.installed_packages import Signature, signature
from evals.models.run import VariantInfo
from evals.paths import PACKAGE
from evals.runner.dependencies import code_digests, foreign_modules, read_files
from evals.shared.words import some
from evals.workspace import Workspace

TICK: Final = 0.05
"""Seconds within which a file system may give two changes one time."""


class ChangedError(CannotJudgeError):
    """Files are no longer what the trials of this run are named by."""

    def __init__(self, changed: Iterable[str]) -> None:
        super().__init__(f"changed while the run was under way: {some(sorted(changed))}; run it again")


@dataclass(frozen=True)
class Pins:
    """Digests of code by path, and signatures of files, as they were when trials were named. It can be sent to another
    process."""

    code: Mapping[str, str]
    files: Mapping[str, Signature]

    @classmethod
    def of(cls, variants: Iterable[VariantInfo], workspace: Workspace) -> "Pins":
        """The pins of a run; taken before the files are read that its trials are named by."""
        pack = workspace.pack
        named = [path for info in variants for path in pack.variant_files(info.variant)]
        read = [*read_files(pack, workspace.root), *foreign_modules(pack, workspace.root)]
        files = [*read, *named, workspace.vectors, workspace.distances]
        return cls(
            {str(path): digest for path, digest in code_digests(pack, workspace.root).items()}, _signatures(files)
        )

    @property
    def paths(self) -> list[Path]:
        """All that is pinned."""
        return [Path(path) for path in (*self.code, *self.files)]

    def changed(self) -> list[str]:
        """The files that are not as pinned: of which this process executes another source, or that were written since,
        even if that was undone."""
        code = [path for path, digest in executed().items() if self.code.get(path, digest) != digest]
        files = [path for path, before in self.files.items() if signature(Path(path)) != before]
        return [_name(Path(path)) for path in (*code, *files)]

    def check(self) -> None:
        """Raises ChangedError where something is not as pinned."""
        if changed := self.changed():
            raise ChangedError(changed)


def _signatures(files: Iterable[Path]) -> dict[str, Signature]:
    """The signatures of the files; of one that changed a moment ago when another change would show."""
    found = {str(path): signature(path) for path in files}
    newest = max((times[-1] for times in found.values() if times), default=0)
    if 0 <= time.time_ns() - newest < TICK * 1e9:
        time.sleep(TICK)
        return {path: signature(Path(path)) for path in found}
    return found


def _name(path: Path) -> str:
    """The path as from the checkout."""
    root = PACKAGE.parent
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
