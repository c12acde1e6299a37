"""What `run`, `plan`, `record` and `bless` have in common: a suite, its cases and variants, narrowed as asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from evals.dataset.holdout import check_reason, held_out, open_holdout, read_openings
from evals.dataset.layout import Layout
from evals.dataset.load import load_cases
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.case import Case
from evals.models.run import Scope, VariantInfo
from evals.models.suite import Suite
from evals.subject.prompt import describe
from evals.suites.load import altered, load_suite, select
from evals.workspace import Workspace


@dataclass(frozen=True)
class Options:
    """How the command line narrows or changes a suite."""

    guards: str | None = None
    max_iterations: int | None = None
    cases: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    dataset: Path | None = None
    open_holdout: str | None = None
    samples: int | None = None

    @property
    def partial(self) -> tuple[str, ...]:
        """Why the run is not the whole suite, as sentences; empty if it is."""
        said = []
        if self.cases:
            said.append(f"only {', '.join(self.cases)} of the suite's cases were run (--case)")
        if self.variants:
            said.append(f"only {', '.join(self.variants)} of the suite's variants were run (--variant)")
        return tuple(said)

    @property
    def changed(self) -> bool:
        """Whether variants or cases are other than the suite's own, so that its baseline does not apply."""
        return any(
            value is not None
            for value in (self.guards, self.max_iterations, self.dataset, self.open_holdout, self.samples)
        )

    def words(self) -> tuple[str, ...]:
        """The options again, as they are typed; that a holdout was opened is not repeated."""
        named = (
            ("--dataset", self.dataset),
            ("--guards", self.guards),
            ("--max-iterations", self.max_iterations),
            ("--samples", self.samples),
        )
        repeated = (("--case", self.cases), ("--variant", self.variants))
        return (
            *(word for name, value in named if value for word in (name, str(value))),
            *(word for name, values in repeated for value in values for word in (name, value)),
        )

    def arguments(self) -> str:
        """The options again, as `make` takes them: empty, or ` ARGS="…"`."""
        words = self.words()
        return f' ARGS="{" ".join(words)}"' if words else ""


@dataclass(frozen=True)
class Selected:
    """What is going to be run."""

    workspace: Workspace
    suite: Suite
    dataset: Sequence[Case]
    cases: Sequence[Case]
    variants: Sequence[VariantInfo]
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
    """
    workspace = Workspace.at(root, options.dataset)
    suite = altered(load_suite(name), guards=options.guards, max_iterations=options.max_iterations)
    if options.samples is not None:
        suite = suite.model_copy(update={"samples": options.samples})
    dataset = load_cases(workspace.datasets)
    cases = select(dataset, suite.cases, options.cases)
    infos = [describe(variant, workspace.root) for variant in suite.variants]
    return Selected(
        workspace=workspace,
        suite=suite,
        dataset=list(dataset.values()),
        cases=cases,
        variants=_narrowed(infos, options.variants),
        bless_command=f".venv/bin/evals bless {name}",
        record_command=f"make record SUITE={name}{options.arguments()}",
    )


def scored(chosen: Selected, options: Options, today: date) -> tuple[Selected, Scope]:
    """What of a selection may be scored: all but the held-out cases, unless they are opened; an opening is counted.

    Raises:
        CannotJudgeError: every selected case is held out.
        DatasetError: the count of openings cannot be read.
    """
    path = Layout(chosen.workspace.datasets).holdout
    sealed = held_out(chosen.cases)
    if options.open_holdout is not None and sealed:
        openings = open_holdout(path, chosen.suite.name, options.open_holdout, today)
        sealed = ()
    else:
        openings = len(read_openings(path))
    left = _some(chosen, [case for case in chosen.cases if case not in sealed])
    return left, _scope(chosen, left.cases, sealed, openings)


def to_be_run(chosen: Selected, options: Options) -> Selected:
    """The cases that `scored` would leave, without counting an opening: what is only run has not been looked at.

    Raises:
        ConfigurationError: the holdout is opened without a reason.
        CannotJudgeError: every selected case is held out.
    """
    opened = options.open_holdout is not None
    check_reason(options.open_holdout)
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


def _narrowed(infos: Sequence[VariantInfo], wanted: Sequence[str]) -> Sequence[VariantInfo]:
    names = [info.variant.name for info in infos]
    bare = {name.partition("+")[0]: name for name in names}  # `--variant v3` also names `v3+prd`
    unknown = [name for name in wanted if name not in names and name not in bare]
    if unknown:
        raise ConfigurationError(f"no variant {', '.join(unknown)}; this suite has {', '.join(names)}")
    chosen = {bare.get(name, name) for name in wanted}
    return [info for info in infos if not wanted or info.variant.name in chosen]
