"""Verdicts kept by content, and files that changed in a checkout since a stored run was made in it."""

import os
import platform
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, TypeAdapter

from evals import atomic_files as disk
from evals.cassettes.manifest_lines import NAME as MANIFEST
from evals.comparison.baseline import FILE_READ, scorer_files, scorers_digest
from evals.content_cache import Kept, digest_of
from evals.errors import EvalsError
from evals.models.case import Case
from evals.models.run import Run
from evals.models.run_request import Options
from evals.models.suite import Suite
from evals.package_digests import Libraries, Listed
from evals.paths import PACKAGE
from evals.prompt_versions import edited_prompts, usual_base, with_committed
from evals.recording.failed_trials import failed_trials
from evals.run_context import RunContext
from evals.runner.trial_cache import shown_place
from evals.runner.trials import Trials, cassette_digests
from evals.scoring.registry import LOADED, SCORED, file_digest, own_files
from evals.secret_filter import allowed_beside
from evals.shortcut_switch import is_plain
from evals.source_loader import digest_of_code
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
    files = [(shown_place(path, workspace.root), digest_of_code(path)) for path in code_files(workspace)]
    return digest_of(*(part.encode() for file in files for part in file))


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
    for path in (name.removeprefix(FILE_READ) for name in run.digests if name.startswith(FILE_READ)):
        if run.digests[f"{FILE_READ}{path}"] != file_digest(workspace.root / path):
            found.append(path)
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


RUN: Final = "run.json"
VERDICTS: Final = "verdicts"
"""Name of the list of packages that verdicts follow from, beside that of trials."""
_FILES: Final = TypeAdapter(dict[str, str])
_LEVEL: Final = 1
"""Of compression: a report is some megabytes, and mostly the words of its JSON."""
MOST: Final = 2_000
"""Trials of a run whose files are kept: as one text those of more take hundreds of megabytes."""

Files = Mapping[str, str]
"""The files of a report: name -> text."""


@dataclass(frozen=True)
class KeptVerdict:
    """The place of one run's files in the cache."""

    context: RunContext
    trials: Trials

    def files(self, *, anew: bool) -> Files | None:
        """The files that were kept; None where there are none, or where everything was asked for `anew`."""
        listed, name = self._before
        if anew or not self._is_keepable or is_plain() or listed is None:
            return None
        found = Kept(self.context.workspace.cache / "runs").get(name)
        return None if found is None else _FILES.validate_json(zlib.decompress(found))

    def decided(self, finish: Callable[[], tuple[Run, Files]]) -> tuple[Run, Files]:
        """What `finish` gives; kept, unless something changed meanwhile."""
        listed, before = self._before
        run, files = finish()
        now = self._packages.note(own_files(LOADED.union(*SCORED.values()))) if self._is_keepable else None
        if now is None:
            return run, files
        name = after = _name(self.context, self.trials, now)
        if listed is not None and now.digest != listed.digest:  # packages were added: the rest is compared without
            after = _name(self.context, self.trials, listed)
        if listed is None or (now.extends(listed) and after == before):
            kept = zlib.compress(_FILES.dump_json(dict(files)), _LEVEL)
            Kept(self.context.workspace.cache / "runs").put(name, kept)
        return run, files

    @cached_property
    def _before(self) -> tuple[Listed | None, str]:
        """The packages that are known, and the run's name with them, as they were before it was decided."""
        listed = self._packages.listed()
        return listed, _name(self.context, self.trials, listed)

    @property
    def _is_keepable(self) -> bool:
        """Not of a suite with a judge, whose cassettes and prompts are not in the name."""
        return self.context.suite.judge is None and len(self.trials.traces) <= MOST

    @property
    def _packages(self) -> Libraries:
        return Libraries(self.context.workspace.cache, VERDICTS)


def _name(chosen: RunContext, trials: Trials, packages: Listed | None) -> str:
    """Everything that the verdict follows from or reads, and the code, with the packages it works with."""
    said = with_committed(chosen.variants, chosen.workspace.root, usual_base(), chosen.workspace.pack)
    place = chosen.workspace
    edited = edited_prompts(chosen.variants, place.root, usual_base(), place.pack, chosen.baseline)
    told = [
        chosen.suite,
        chosen.scope,
        allowed_beside(chosen.workspace.cassettes),
        *chosen.cases,
        *said,
        *edited,
        *trials.traces,
        *([chosen.baseline] if chosen.baseline else []),
    ]
    words = (*chosen.options.partial, chosen.record_command, chosen.bless_command, *chosen.unblessed)
    manifest = disk.read(chosen.workspace.cassettes / MANIFEST) or b""
    words += (str(failed_trials(chosen.workspace.cache)),)
    read = [f"{case} {digest}".encode() for case, digest in trials.recorded.items()]
    by = [_code(chosen.workspace), (packages.digest if packages else "").encode()]
    words += (*("decisive",) * chosen.request.decisive, *chosen.workspace.pack.default_prompts().values())
    counts = [len(chosen.cases), len(said), len(trials.traces), len(chosen.options.partial), len(chosen.unblessed)]
    return digest_of(*map(_mark, told), *(word.encode() for word in words), str(counts).encode(), manifest, *read, *by)


def _mark(model: BaseModel) -> bytes:
    """Its digest: the texts of all trials side by side are as large as the run."""
    return digest_of(model.model_dump_json(by_alias=True).encode()).encode()


def _code(workspace: Workspace) -> bytes:
    """Of Python and all code, as this process executes it, or as it stands there where it executes none of it."""
    return digest_of(platform.python_version().encode(), all_code(workspace).encode()).encode()
