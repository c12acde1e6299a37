"""What `run`, `plan`, `record` and `bless` have in common: a suite, its cases and variants, narrowed as asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.dataset.load import load_cases
from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.run import VariantInfo
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
        return self.guards is not None or self.max_iterations is not None or self.dataset is not None

    def arguments(self) -> str:
        """The options again, as `make` takes them: empty, or ` ARGS="…"`."""
        parts = [f"--dataset {self.dataset}"] if self.dataset else []
        parts += [f"--guards {self.guards}"] if self.guards else []
        parts += [f"--max-iterations {self.max_iterations}"] if self.max_iterations else []
        parts += [f"--case {case}" for case in self.cases]
        parts += [f"--variant {variant}" for variant in self.variants]
        return f' ARGS="{" ".join(parts)}"' if parts else ""


@dataclass(frozen=True)
class Selected:
    """What is going to be run."""

    workspace: Workspace
    suite: Suite
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
    cases = select(load_cases(workspace.datasets), suite.cases, options.cases)
    infos = [describe(variant, workspace.root) for variant in suite.variants]
    return Selected(
        workspace=workspace,
        suite=suite,
        cases=cases,
        variants=_narrowed(infos, options.variants),
        bless_command=f".venv/bin/evals bless {name}",
        record_command=f"make record SUITE={name}{options.arguments()}",
    )


def _narrowed(infos: Sequence[VariantInfo], wanted: Sequence[str]) -> Sequence[VariantInfo]:
    names = [info.variant.name for info in infos]
    bare = {name.partition("+")[0]: name for name in names}  # `--variant v3` also names `v3+prd`
    unknown = [name for name in wanted if name not in names and name not in bare]
    if unknown:
        raise ConfigurationError(f"no variant {', '.join(unknown)}; this suite has {', '.join(names)}")
    chosen = {bare.get(name, name) for name in wanted}
    return [info for info in infos if not wanted or info.variant.name in chosen]
