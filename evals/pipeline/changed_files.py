"""Files that have changed in a checkout since a stored run was made in it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.comparison.baseline import scorer_files, scorers_digest
from evals.content_cache import digest_of
from evals.errors import EvalsError
from evals.import_hook import digest_of_code
from evals.models.case import Case
from evals.models.run import Run, VariantInfo
from evals.paths import PACKAGE
from evals.runner.trials import cassette_digests
from evals.workspace import Workspace

CODE: Final = "code"
CASSETTES: Final = "cassettes"
_DATASET: Final = "--dataset "


def made_from(recorded: Mapping[str, str], workspace: Workspace) -> dict[str, str]:
    """Digests of what a run is made from and says nowhere else: its cassettes, given by case, and all code."""
    cassettes = {CASSETTES: _joined(recorded)} if recorded else {}
    return {**cassettes, CODE: all_code(workspace)}


def all_code(workspace: Workspace) -> str:
    """The digest of harness and graph, with templates, prices and suites, as this process executes them."""
    return digest_of(*(part.encode() for path in code_files(workspace) for part in (path.name, digest_of_code(path))))


def code_files(workspace: Workspace) -> list[Path]:
    """All code that may have a say in a run: `evals` with its templates and prices, the graph, and the lock file.
    Baselines are what a run is held against, not what it is made from."""
    return [
        *sorted(_own_files()),
        *(path for path in workspace.pack.code_files(workspace.root) if not path.is_relative_to(PACKAGE)),
        *scorer_files(workspace.pack),
        *PACKAGE.parent.glob("requirements.lock"),
    ]


def changed_since(run: Run, root: Path) -> tuple[str, ...]:
    """The things a run was made from that are not so any more in the checkout at `root`, by name.

    Raises:
        ConfigurationError: there is no checkout.
    """
    workspace = _workspace_of(run, root)
    cases: list[Case] = []
    found = [f"the prompt of {info.variant.name}" for info in run.variants if not _has_prompt(info, workspace)]
    for info in run.cases:
        case = _case(info.id, workspace)
        cases += [case] if case else []
        found += [f"case {info.id}"] if case is None or case.digest != info.digest else []
    due = run.digests.get(CASSETTES)
    if due is not None and due != _joined(cassette_digests(cases, workspace)):
        found.append(CASSETTES)
    if CODE in run.digests and run.digests[CODE] != all_code(workspace):
        found.append("code of evals or of the graph")
    if scorer_files(workspace.pack) and run.digests.get("scorers") != scorers_digest(workspace.pack):
        found.append("what the scorers read")
    return tuple(found)


def _own_files() -> Iterator[Path]:
    for folder, below, names in os.walk(PACKAGE):
        below[:] = [name for name in below if name not in {"__pycache__", "baselines"}]
        yield from (Path(folder, name) for name in names)


def _joined(recorded: Mapping[str, str]) -> str:
    return digest_of(*(f"{case} {digest}".encode() for case, digest in sorted(recorded.items())))


def _workspace_of(run: Run, root: Path) -> Workspace:
    """The checkout with the dataset that has the cases of the run; with its own where none has."""
    named = [Path(text.removeprefix(_DATASET)) for text in run.unblessed if text.startswith(_DATASET)]
    own = Workspace.at(root)
    for workspace in _workspaces(own, named):
        if all(workspace.pack.labels_file(workspace.datasets, case.id).is_file() for case in run.cases):
            return workspace
    return own


def _workspaces(own: Workspace, named: list[Path]) -> Iterator[Workspace]:
    yield from (Workspace.at(own.root, path) for path in named if path.is_dir())
    yield own
    yield from (Workspace.at(own.root, path) for path in sorted(own.datasets.iterdir()) if path.is_dir())


def _case(name: str, workspace: Workspace) -> Case | None:
    try:
        return workspace.pack.load_case(workspace.datasets, name)
    except EvalsError:
        return None


def _has_prompt(info: VariantInfo, workspace: Workspace) -> bool:
    try:
        return workspace.pack.describe(info.variant, workspace.root).prompt_digest == info.prompt_digest
    except EvalsError:
        return False
