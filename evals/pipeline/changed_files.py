"""Files that have changed in a checkout since a stored run was made in it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

from evals.comparison.baseline import scorer_files, scorers_digest
from evals.content_cache import digest_of
from evals.errors import EvalsError
from evals.import_hook import digest_of_code
from evals.models.case import Case
from evals.models.run import Run
from evals.models.run_request import Options
from evals.models.suite import Suite
from evals.paths import PACKAGE
from evals.run_context import RunContext
from evals.runner.trials import cassette_digests
from evals.suites.suite_files import read_suite, select, suite_file, suites_folder
from evals.workspace import Workspace

CODE: Final = "code"
CASSETTES: Final = "cassettes"
SUITE: Final = "suite"
_DATASET: Final = "--dataset "
_T = TypeVar("_T")


def made_from(recorded: Mapping[str, str], context: RunContext) -> dict[str, str]:
    """Digests of what a run is made from and says nowhere else: its cassettes, given by case, all code, and the suite
    with its choice of cases, where it has a name and no option changed it."""
    cassettes = {CASSETTES: _joined(recorded)} if recorded else {}
    request, root = context.request, context.workspace.root
    named = suites_folder(root) / f"{context.suite.name}.yaml"
    is_named = suite_file(request.suite, root).resolve() == named.resolve()
    ids = [*(case.id for case in context.cases), *context.scope.sealed]
    suite = {SUITE: _suite(context.suite, ids)} if is_named and request.options == Options() else {}
    return {**cassettes, CODE: all_code(context.workspace), **suite}


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
    found = []
    for each in run.variants:
        described = _now(workspace.pack.describe, each.variant, workspace.root)
        if described is None or described.prompt_digest != each.prompt_digest:
            found.append(f"the prompt of {each.variant.name}")
    for info in run.cases:
        case = _now(workspace.pack.load_case, workspace.datasets, info.id)
        cases += [case] if case else []
        found += [f"case {info.id}"] if case is None or case.digest != info.digest else []
    due = run.digests.get(CASSETTES)
    if due is not None and due != _joined(cassette_digests(cases, workspace)):
        found.append(CASSETTES)
    if SUITE in run.digests and run.digests[SUITE] != _now(_suite_now, run.suite, workspace):
        found.append(f"suite {run.suite} or its choice of cases")
    if CODE in run.digests and run.digests[CODE] != all_code(workspace):
        found.append("code of evals or of the graph")
    if scorer_files(workspace.pack) and run.digests.get("scorers") != scorers_digest(workspace.pack):
        found.append("what the scorers read")
    return tuple(found)


def _own_files() -> Iterator[Path]:
    for folder, below, names in os.walk(PACKAGE):
        below[:] = [name for name in below if name not in {"__pycache__", "baselines"}]
        yield from (Path(folder, name) for name in names)


def _suite(suite: Suite, cases: Iterable[str]) -> str:
    return digest_of(suite.model_dump_json().encode(), *(case.encode() for case in sorted(cases)))


def _suite_now(name: str, workspace: Workspace) -> str:
    suite = read_suite(name, workspace.root)
    return _suite(suite, (case.id for case in select(workspace.pack.load_cases(workspace.datasets), suite.cases)))


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


def _now(read: Callable[..., _T], *of: object) -> _T | None:
    """What is read now; None where it cannot be."""
    try:
        return read(*of)
    except EvalsError:
        return None
