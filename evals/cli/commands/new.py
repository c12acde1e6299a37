"""`evals dataset new`: the files of a new case, to be filled in."""

from pathlib import Path

from evals.dataset.checks.files import MARK
from evals.dataset.scaffold import scaffold
from evals.errors import EXIT_OK, ConfigurationError
from evals.workspace import Workspace


def new(case_id: str, root: Path, dataset: Path | None = None, *, codebase: str | None, archetype: str | None) -> int:
    """Write the files and say what to do with them. Returns 0; raises ConfigurationError."""
    if codebase is None or archetype is None:
        raise ConfigurationError("a new case needs --codebase and --archetype, or --from-job or --from-git")
    workspace = Workspace.at(root, dataset)
    for path in scaffold(workspace.datasets, case_id, codebase, archetype):
        print(path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else path)
    print(f"fill in every {MARK}; then: evals dataset lint --case {case_id}")
    return EXIT_OK
