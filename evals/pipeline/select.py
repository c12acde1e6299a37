"""Select: a suite, its cases and variants, narrowed as asked; everything a run depends on is checked here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from evals.dataset.commit_tree import need_commits
from evals.dataset.holdout import check_reason, held_out, open_holdout, read_openings
from evals.dataset.layout import Layout
from evals.dataset.load import load_cases
from evals.dataset.releases.here import refuse_unfetched
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.case import Case
from evals.models.run import Scope, VariantInfo
from evals.models.suite import Suite
from evals.pipeline.options import Options
from evals.subject.prompt import describe
from evals.suites.load import altered, load_suite, select
from evals.workspace import Workspace


@dataclass(frozen=True)
class Selected:
    """What is going to be run."""

    workspace: Workspace
    suite: Suite
    dataset: Sequence[Case]
    cases: Sequence[Case]
    variants: Sequence[VariantInfo]
    options: Options
    unblessed: tuple[str, ...]
    """What was asked for that the suite has otherwise, so that its baseline does not apply; empty where it does."""
    record_command: str
    bless_command: str

    @property
    def by_id(self) -> Mapping[str, Case]:
        """The cases by name."""
        return {case.id: case for case in self.cases}


def selected(name: str, root: Path, options: Options) -> Selected:
    """Read and check everything a run depends on, before anything is run.

    Raises:
        ConfigurationError, DatasetError: something is wrong with the suite, the options or the dataset.
        CannotJudgeError: no case is selected.
        NotFetchedError: a case is about a released package that is not here.
    """
    own = load_suite(name)
    workspace = Workspace.at(root, options.dataset or dataset_of(own, root))
    check_reason(options.open_holdout)
    suite = altered(own, guards=options.guards, max_iterations=options.max_iterations)
    if options.samples is not None:
        suite = suite.model_copy(update={"samples": options.samples})
    dataset = load_cases(workspace.datasets)
    cases = select(dataset, suite.cases, options.cases)
    refuse_unfetched(cases, workspace.datasets, workspace.cache)
    need_commits((case.labels.commits[0] for case in cases if case.labels.commits), workspace.cache)
    infos = [describe(variant, workspace.root) for variant in suite.variants]
    return Selected(
        workspace=workspace,
        suite=suite,
        dataset=list(dataset.values()),
        cases=cases,
        variants=_narrowed(infos, options.variants),
        options=options,
        unblessed=_unblessed(own, suite, cases, workspace, options),
        bless_command=f".venv/bin/evals bless {name}",
        record_command=f"make record SUITE={name}{options.arguments()}",
    )


def dataset_of(suite: Suite, root: Path) -> Path | None:
    """The folder of the dataset the suite names; None for the checkout's own."""
    return None if suite.dataset is None else root / "datasets" / suite.dataset


def scored(chosen: Selected, today: date) -> tuple[Selected, Scope]:
    """What of a selection may be scored: all but the held-out cases, unless they are opened; an opening is counted.

    Raises:
        CannotJudgeError: every selected case is held out.
        DatasetError: the count of openings cannot be read.
    """
    path, options = Layout(chosen.workspace.datasets).holdout, chosen.options
    sealed = held_out(chosen.cases)
    if options.open_holdout is not None and sealed:
        openings = open_holdout(path, chosen.suite.name, options.open_holdout, today)
        sealed = ()
    else:
        openings = len(read_openings(path))
    left = _some(chosen, [case for case in chosen.cases if case not in sealed])
    return left, _scope(chosen, left.cases, sealed, openings)


def to_be_run(chosen: Selected) -> Selected:
    """The cases that `scored` would leave, without counting an opening: what is only run has not been looked at.

    Raises:
        ConfigurationError: the holdout is opened without a reason.
        CannotJudgeError: every selected case is held out.
    """
    opened = chosen.options.open_holdout is not None
    return _some(chosen, [case for case in chosen.cases if opened or case not in held_out(chosen.cases)])


def _some(chosen: Selected, cases: Sequence[Case]) -> Selected:
    if not cases:
        raise CannotJudgeError('every selected case is held out; `--open-holdout "why"` scores them, and counts')
    return replace(chosen, cases=cases)


def _scope(chosen: Selected, cases: Sequence[Case], sealed: Sequence[Case], openings: int) -> Scope:
    return Scope(
        cases=len(chosen.dataset),
        selected=len(cases),
        unrecorded=tuple(case.id for case in chosen.dataset if not chosen.workspace.cassette(case.id).exists()),
        sealed=tuple(case.id for case in sealed),
        openings=openings,
    )


def _unblessed(
    own: Suite, asked: Suite, cases: Sequence[Case], workspace: Workspace, options: Options
) -> tuple[str, ...]:
    """The options that change what is run, as they were typed. One that asks for what the suite has changes nothing."""
    changes = (
        ("--guards", options.guards, asked.variants != own.variants and options.guards is not None),
        ("--max-iterations", options.max_iterations, asked.variants != own.variants),
        ("--samples", options.samples, asked.samples != own.samples),
        ("--dataset", options.dataset, workspace.datasets != _dataset(own, workspace)),
        ("--open-holdout", options.open_holdout, bool(held_out(cases))),
    )
    return tuple(f"{name} {value}" for name, value, changed in changes if value is not None and changed)


def _dataset(suite: Suite, workspace: Workspace) -> Path:
    return (dataset_of(suite, workspace.root) or workspace.root / "datasets").resolve()


def needless(chosen: Selected) -> tuple[str, ...]:
    """What keeps the baseline away where every option is given, each with what the suite has anyway: nothing."""
    suite = chosen.suite
    same = {(variant.guards, variant.max_iterations) for variant in suite.variants}
    guards, limit = same.pop() if len(same) == 1 else (None, None)
    own = _dataset(suite, chosen.workspace)
    options = Options(guards=guards, max_iterations=limit, samples=suite.samples, dataset=own)
    asked = altered(suite, guards=guards, max_iterations=limit)
    return _unblessed(suite, asked, chosen.cases, Workspace.at(chosen.workspace.root, options.dataset), options)


def _narrowed(infos: Sequence[VariantInfo], wanted: Sequence[str]) -> Sequence[VariantInfo]:
    names = [info.variant.name for info in infos]
    bare = {name.partition("+")[0]: name for name in names}  # `--variant v3` also names `v3+prd`
    unknown = [name for name in wanted if name not in names and name not in bare]
    if unknown:
        raise ConfigurationError(f"no variant {', '.join(unknown)}; this suite has {', '.join(names)}")
    chosen = {bare.get(name, name) for name in wanted}
    return [info for info in infos if not wanted or info.variant.name in chosen]
