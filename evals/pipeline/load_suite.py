"""Load a suite with its cases, variants and baseline, narrowed by options; held-out cases, and who opened them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import yaml
from filelock import FileLock

from evals import atomic_files as disk
from evals.analysis.hunk_effects import at_points
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load
from evals.comparison.baseline import load_baseline, path_of
from evals.errors import CannotJudgeError, ConfigurationError, nearest_name
from evals.models.base import Closed
from evals.models.case import Case
from evals.models.run import Baseline, Scope, VariantInfo
from evals.models.run_request import Options, RunRequest
from evals.models.suite import Suite
from evals.paths import path_of_user
from evals.project import Project
from evals.run_context import Progress, RunContext, unwatched
from evals.safe_yaml import read_model
from evals.scoring.registry import scorer_infos
from evals.suites.suite_files import altered, read_suite, select
from evals.workspace import Workspace

HEADER: Final = "# How often, and why, held-out cases were scored; `evals run SUITE --open-holdout WHY` adds one.\n"


class Opening(Closed):
    """One look at the holdout. `day` is an ISO date."""

    day: str
    suite: str
    why: str


class Openings(Closed):
    """`holdout.yaml`, oldest first."""

    openings: tuple[Opening, ...] = ()


def held_out(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Those of the cases that are in the split `holdout`."""
    return tuple(case for case in cases if case.known.split == "holdout")


def read_openings(path: Path) -> tuple[Opening, ...]:
    """What was opened so far; nothing where there is no file yet. Raises DatasetError (`path:line: …`)."""
    return read_model(path, Openings).openings if path.exists() else ()


def check_reason(why: str | None) -> None:
    """Raises ConfigurationError if the holdout is to be opened without a reason."""
    if why is not None and not why.strip():
        raise ConfigurationError(
            '--open-holdout needs a reason, such as "final check of release 2"; nothing was opened'
        )


def open_holdout(path: Path, suite: str, why: str, day: date, header: str = HEADER) -> int:
    """Count one more opening before anything is scored, and return how many there are now.

    The file is replaced as a whole under a lock: two runs at once count as two.

    Raises:
        ConfigurationError: no reason is given.
        DatasetError: the count so far cannot be read.
    """
    check_reason(why)
    with FileLock(path.with_name(f".{path.name}.lock")):
        openings = (*read_openings(path), Opening(day=day.isoformat(), suite=suite, why=why))
        text = yaml.safe_dump(Openings(openings=openings).model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        disk.replace(path, header + text)
    return len(openings)


def plan(request: RunRequest, progress: Progress = unwatched) -> RunContext:
    """The first step of a run: its suite, cases, variants and baseline. Raises as `load_suite` does."""
    context = loaded(selected(request.suite, request.root, request.options), request.today)
    return replace(context, request=request, progress=progress)


def selected(name: str, root: Path, options: Options) -> RunContext:
    """Read and check everything a run depends on, before anything is run.

    Raises:
        ConfigurationError, DatasetError: something is wrong with the suite, the options or the dataset.
        CannotJudgeError: no case is selected.
        NotFetchedError: a case is about a released package that is not here.
    """
    own = read_suite(name, root)
    workspace = Workspace.at(root, options.dataset or dataset_of(own, root))
    check_reason(options.open_holdout)
    suite = altered(own, options.settings, workspace.pack)
    if options.samples is not None:
        suite = suite.model_copy(update={"samples": options.samples})
    dataset = workspace.pack.load_cases(workspace.datasets)
    cases = select(dataset, suite.cases, options.cases)
    if suite.points:
        cases = at_points(cases, suite.points)
    workspace.pack.prepare_cases(cases, workspace)
    infos = [workspace.pack.describe(variant, workspace.root) for variant in suite.variants]
    if suite.primary or workspace.pack.primary:
        scorer_infos(workspace.pack, suite.primary)  # what is wrong with them is said before the work
    return RunContext(
        request=RunRequest(name, root, options),
        workspace=workspace,
        suite=suite,
        dataset=list(dataset.values()),
        cases=cases,
        variants=_narrowed(infos, options.variants),
        scope=Scope(cases=len(dataset), selected=len(cases)),
        unblessed=_unblessed(own, suite, cases, workspace, options),
        bless_command=bless_command(name, root),
        record_command=record_command(name, options, root),
    )


def bless_command(suite: str, root: Path, verb: str = "bless") -> str:
    """What to type to bless a suite of the project at `root`, or to `run` it."""
    return f"{'.venv/bin/' if Project.at(root).suites is None else ''}evals {verb} {suite}"


def record_command(suite: str, options: Options, root: Path) -> str:
    """What to type to record what a suite lacks: `make record` in this repository, the command itself elsewhere."""
    words = " ".join(options.words())
    if Project.at(root).suites is None:
        return f"make record SUITE={suite}" + (f' ARGS="{words}"' if words else "")
    return f"evals record {suite} {words}".rstrip()


def dataset_of(suite: Suite, root: Path) -> Path | None:
    """The folder of the dataset the suite names; None for the checkout's own."""
    if suite.dataset is None:
        return None
    own = root / Project.at(root).cases / suite.dataset
    return own if own.is_dir() or not (root / suite.dataset).is_dir() else root / suite.dataset


def scored(chosen: RunContext, today: date | None = None) -> RunContext:
    """What of a selection may be scored: all but the held-out cases, unless they are opened; an opening is counted
    under `today`, that of the clock if not given.

    Raises:
        CannotJudgeError: every selected case is held out.
        DatasetError: the count of openings cannot be read.
    """
    path, options = chosen.workspace.datasets / "holdout.yaml", chosen.options
    sealed = held_out(chosen.cases)
    if options.open_holdout is not None and sealed:
        day = today or datetime.now(UTC).date()
        openings = open_holdout(path, chosen.suite.name, options.open_holdout, day)
        sealed = ()
    else:
        openings = len(read_openings(path))
    left = _some(chosen, [case for case in chosen.cases if case not in sealed])
    return replace(left, scope=_scope(chosen, left.cases, sealed, openings))


def to_be_run(chosen: RunContext) -> RunContext:
    """The cases that `scored` would leave, without counting an opening: what is only run has not been looked at.

    Raises:
        ConfigurationError: the holdout is opened without a reason.
        CannotJudgeError: every selected case is held out.
    """
    opened = chosen.options.open_holdout is not None
    return _some(chosen, [case for case in chosen.cases if opened or case not in held_out(chosen.cases)])


def _some(chosen: RunContext, cases: Sequence[Case]) -> RunContext:
    if not cases:
        raise CannotJudgeError('every selected case is held out; `--open-holdout "why"` scores them, and counts')
    return replace(chosen, cases=cases)


def _scope(chosen: RunContext, cases: Sequence[Case], sealed: Sequence[Case], openings: int) -> Scope:
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
        *((f"--set {name}", value, asked.variants != own.variants) for name, value in options.settings.items()),
        ("--repeat", options.samples, asked.samples != own.samples),
        ("--dataset", options.dataset, workspace.datasets != _dataset(own, workspace)),
        ("--open-holdout", options.open_holdout, bool(held_out(cases))),
    )
    asked_for = ((name, value) for name, value, changed in changes if value is not None and changed)
    return tuple(f"{name}{'=' if name.startswith('--set') else ' '}{value}" for name, value in asked_for)


def _dataset(suite: Suite, workspace: Workspace) -> Path:
    return (dataset_of(suite, workspace.root) or workspace.root / workspace.project.cases).resolve()


def needless(chosen: RunContext) -> tuple[str, ...]:
    """What keeps the baseline away where every option is given, each with what the suite has anyway: nothing."""
    suite = chosen.suite
    of_first = {name: suite.variants[0].settings[name] for name in chosen.pack.run_settings}
    same = {k: v for k, v in of_first.items() if all(each.settings[k] == v for each in suite.variants)}
    options = Options(settings=same, samples=suite.samples, dataset=_dataset(suite, chosen.workspace))
    asked = altered(suite, same, chosen.pack)
    return _unblessed(suite, asked, chosen.cases, Workspace.at(chosen.workspace.root, options.dataset), options)


def _narrowed(infos: Sequence[VariantInfo], wanted: Sequence[str]) -> Sequence[VariantInfo]:
    names = [info.variant.name for info in infos]
    bare = {name.partition("+")[0]: name for name in names}  # `--variant v3` also names `v3+prd`
    unknown = [name for name in wanted if name not in names and name not in bare]
    if unknown:
        raise ConfigurationError(
            f"no variant {', '.join(unknown)}; this suite has {', '.join(names)}{nearest_name(unknown[0], names)}"
        )
    chosen = {name if name in names else bare[name] for name in wanted}
    return [info for info in infos if not wanted or info.variant.name in chosen]


def baseline_of(chosen: RunContext) -> Baseline | None:
    """The suite's blessed baseline, if there is one.

    Raises:
        CannotJudgeError: the file is there but cannot be read.
    """
    return load_baseline(path_of(chosen.workspace.baselines, chosen.suite.name))


UNCHANGED: Final = Options()
HERE: Final = Path()


def load_suite(
    suite: str, root: Path | str = HERE, options: Options = UNCHANGED, *, today: date | None = None
) -> RunContext:
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
    return plan(RunRequest(suite, path_of_user(root, "root"), options, today=today))


def loaded(chosen: RunContext, today: date | None = None, *, own_baseline: bool = True) -> RunContext:
    """A selection with what it is compared with; `own_baseline` says whether that is the baseline of its suite.

    Raises:
        DatasetError: the count of openings cannot be read.
        CannotJudgeError: every selected case is held out, or the baseline cannot be read.
        ConfigurationError: the suite asks decision points only.
    """
    if chosen.suite.points:
        raise ConfigurationError(f"{chosen.suite.name} asks decision points only, and has no verdict; see `attribute`")
    left = scored(chosen, today)
    wanted = own_baseline and not chosen.unblessed
    # a broken baseline is said before the work, not after
    return replace(left, baseline=baseline_of(left) if wanted else None, wants_baseline=wanted)


def recorded(name: str, workspace: Workspace) -> Cassette:
    """The cassette of case `name`, or in file `name`.

    Raises:
        ConfigurationError: there is neither.
        CassetteError: it cannot be trusted.
    """
    path = cassette_path(name, workspace)
    if not path.is_file():
        raise ConfigurationError(f"{name}: no cassette of this case and no such file; `evals cassette show` lists them")
    return load(path)


def cassette_path(name: str, workspace: Workspace) -> Path:
    """The file, if `name` ends like one; else where the case's cassette is or would be."""
    return Path(name) if name.endswith((".yaml", ".yml")) else workspace.cassette(name)


def below(path: Path, workspace: Workspace) -> Path:
    """The path as seen from the checkout, where it is in it."""
    return path.relative_to(workspace.root) if path.is_relative_to(workspace.root) else path
