"""Load a suite with its cases, variants and baseline, narrowed by options."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from evals.cassettes.interaction import Cassette
from evals.cassettes.store import load
from evals.comparison.baseline import load_baseline, path_of
from evals.errors import CannotJudgeError, ConfigurationError, nearest_name
from evals.holdout import check_reason, held_out, holdout_file, open_holdout, read_openings
from evals.models.case import Case
from evals.models.run import Baseline, Scope, VariantInfo
from evals.models.shard_file import SuiteSelection
from evals.models.suite import Suite
from evals.paths import path_of_user
from evals.project import Project
from evals.scoring.registry import scorer_infos
from evals.suites.suite_files import altered, read_suite, select
from evals.workspace import Workspace


@dataclass(frozen=True)
class Options:
    """How a caller narrows or changes a suite; what is not given is as the suite has it."""

    guards: str | None = None
    max_iterations: int | None = None
    cases: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    dataset: Path | None = None
    open_holdout: str | None = None
    samples: int | None = None

    def __post_init__(self) -> None:
        """Names are tuples, the dataset is a path. Raises ConfigurationError for a text in place of names."""
        for member in ("cases", "variants"):
            given = getattr(self, member)
            if isinstance(given, str):
                raise ConfigurationError(f"Options: {member} is several names; write {member}=({given!r},)")
            object.__setattr__(self, member, tuple(given))
        if self.dataset is not None:
            object.__setattr__(self, "dataset", path_of_user(self.dataset, "dataset"))

    @property
    def partial(self) -> tuple[str, ...]:
        """Why the run is not the whole suite, as sentences; empty if it is."""
        said = []
        if self.cases:
            said.append(f"only {', '.join(self.cases)} of the suite's cases were run (--case)")
        if self.variants:
            said.append(f"only {', '.join(self.variants)} of the suite's variants were run (--variant)")
        return tuple(said)

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

    def asked(self, suite: str) -> SuiteSelection:
        """The suite and the options, as a shard keeps them."""
        told = {**asdict(self), "dataset": str(self.dataset) if self.dataset else None}
        return SuiteSelection.model_validate({"suite": suite, **told})

    @classmethod
    def of(cls, asked: SuiteSelection) -> "Options":
        """The options a shard was made with."""
        told = asked.model_dump(exclude={"suite"})
        return cls(**{**told, "dataset": Path(asked.dataset) if asked.dataset else None})


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        names = ", ".join(info.variant.name for info in self.variants)
        return f"<{type(self).__name__} {self.suite.name}: {len(self.cases)} cases, variants {names}>"

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
    own = read_suite(name, root)
    workspace = Workspace.at(root, options.dataset or dataset_of(own, root))
    check_reason(options.open_holdout)
    suite = altered(own, guards=options.guards, max_iterations=options.max_iterations)
    if options.samples is not None:
        suite = suite.model_copy(update={"samples": options.samples})
    dataset = workspace.pack.load_cases(workspace.datasets)
    cases = select(dataset, suite.cases, options.cases)
    workspace.pack.prepare_cases(cases, workspace)
    infos = [workspace.pack.describe(variant, workspace.root) for variant in suite.variants]
    if suite.primary or workspace.pack.primary:
        scorer_infos(workspace.pack, suite.primary)  # what is wrong with them is said before the work
    return Selected(
        workspace=workspace,
        suite=suite,
        dataset=list(dataset.values()),
        cases=cases,
        variants=_narrowed(infos, options.variants),
        options=options,
        unblessed=_unblessed(own, suite, cases, workspace, options),
        bless_command=bless_command(name, root),
        record_command=record_command(name, options, root),
    )


def bless_command(suite: str, root: Path) -> str:
    """What to type to bless a suite of the project at `root`."""
    return f"{'.venv/bin/' if Project.at(root).suites is None else ''}evals bless {suite}"


def record_command(suite: str, options: Options, root: Path) -> str:
    """What to type to record what a suite lacks: `make record` in this repository, the command itself elsewhere."""
    if Project.at(root).suites is None:
        return f"make record SUITE={suite}{options.arguments()}"
    return " ".join(("evals record", suite, *options.words()))


def dataset_of(suite: Suite, root: Path) -> Path | None:
    """The folder of the dataset the suite names; None for the checkout's own."""
    return None if suite.dataset is None else root / Project.at(root).cases / suite.dataset


def scored(chosen: Selected, today: date) -> tuple[Selected, Scope]:
    """What of a selection may be scored: all but the held-out cases, unless they are opened; an opening is counted.

    Raises:
        CannotJudgeError: every selected case is held out.
        DatasetError: the count of openings cannot be read.
    """
    path, options = holdout_file(chosen.workspace.datasets), chosen.options
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
    return (dataset_of(suite, workspace.root) or workspace.root / workspace.project.cases).resolve()


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
        raise ConfigurationError(
            f"no variant {', '.join(unknown)}; this suite has {', '.join(names)}{nearest_name(unknown[0], names)}"
        )
    chosen = {bare.get(name, name) for name in wanted}
    return [info for info in infos if not wanted or info.variant.name in chosen]


def baseline_of(chosen: Selected) -> Baseline | None:
    """The suite's blessed baseline, if there is one.

    Raises:
        CannotJudgeError: the file is there but cannot be read.
    """
    return load_baseline(path_of(chosen.workspace.baselines, chosen.suite.name))


UNCHANGED: Final = Options()
HERE: Final = Path()


@dataclass(frozen=True, repr=False)
class LoadedSuite(Selected):
    """What is going to be run, and what it is going to be held against."""

    scope: Scope
    """How much of the dataset it is about, and which of its cases are left out because they are held out."""
    baseline: Baseline | None
    """What it is held against beside its own reference; None where nobody blessed one, or it does not apply."""
    wants_baseline: bool
    """Whether the lack of one keeps a run from being judged."""


def load_suite(
    suite: str, root: Path | str = HERE, options: Options = UNCHANGED, *, today: date | None = None
) -> LoadedSuite:
    """Read a suite of the checkout at `root`, narrowed or changed as `options` say.

    Args:
        suite: the name of a shipped suite, or a suite file.
        root: the checkout.
        options: what is run of it; nothing given is the suite as it stands. `open_holdout` counts at once.
        today: the day an opening of the holdout is counted under; that of the clock if not given.

    Raises:
        ConfigurationError, DatasetError: something is wrong with the suite, the options or the dataset.
        CannotJudgeError: no case is selected, all are held out, or the baseline cannot be read.
    """
    if not isinstance(options, Options):
        raise ConfigurationError(f"load_suite: options is {options!r}; write options=Options(...)")
    return loaded(selected(suite, path_of_user(root, "root"), options), today)


def loaded(chosen: Selected, today: date | None = None, *, own_baseline: bool = True) -> LoadedSuite:
    """A selection with what it is held against; `own_baseline` says whether that is the baseline of its suite.

    Raises:
        DatasetError: the count of openings cannot be read.
        CannotJudgeError: every selected case is held out, or the baseline cannot be read.
    """
    left, scope = scored(chosen, today or datetime.now(UTC).date())
    wanted = own_baseline and not chosen.unblessed
    # a broken baseline is said before the work, not after
    return LoadedSuite(**vars(left), scope=scope, baseline=baseline_of(left) if wanted else None, wants_baseline=wanted)


def recorded(name: str, workspace: Workspace) -> Cassette:
    """The cassette of case `name`, or in file `name`.

    Raises:
        ConfigurationError: there is neither.
        CassetteError: it cannot be trusted.
    """
    path = cassette_path(name, workspace)
    if not path.is_file():
        raise ConfigurationError(
            f"{name}: no cassette of this case and no such file; `evals cassette status` lists them"
        )
    return load(path)


def cassette_path(name: str, workspace: Workspace) -> Path:
    """The file, if `name` ends like one; else where the case's cassette is or would be."""
    return Path(name) if name.endswith((".yaml", ".yml")) else workspace.cassette(name)


def below(path: Path, workspace: Workspace) -> Path:
    """The path as seen from the checkout, where it is in it."""
    return path.relative_to(workspace.root) if path.is_relative_to(workspace.root) else path
