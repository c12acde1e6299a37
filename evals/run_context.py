"""The context of a run: what is run, where, and what it is compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evals.application_pack import Pack
from evals.models.case import Case
from evals.models.run import Baseline, Scope, VariantInfo
from evals.models.run_request import Options, RunRequest
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.workspace import Workspace


class Progress(Protocol):
    """Told of every finished trial."""

    def __call__(self, trace: Trace, *, reused: bool, total: int) -> None:
        """One more of `total` is there; `reused` when the cache had it."""


def unwatched(trace: Trace, *, reused: bool, total: int) -> None:
    """Progress that nobody follows."""


@dataclass(frozen=True, repr=False)
class RunContext:
    """A loaded suite. The step `plan` makes it, and every later step takes it."""

    request: RunRequest
    workspace: Workspace
    suite: Suite
    dataset: Sequence[Case]
    cases: Sequence[Case]
    variants: Sequence[VariantInfo]
    scope: Scope
    """How much of the dataset it is about, and which of its cases are left out because they are held out."""
    unblessed: tuple[str, ...] = ()
    """What was asked for that the suite has otherwise, so that its baseline does not apply; empty where it does."""
    record_command: str = ""
    bless_command: str = ""
    baseline: Baseline | None = None
    """What it is compared with beside its own reference; None where nobody blessed one, or it does not apply."""
    wants_baseline: bool = False
    """Whether the lack of a baseline keeps a run from being decided."""
    progress: Progress = unwatched
    skipped: frozenset[tuple[str, str, int]] = frozenset()
    """Trials (case, variant, repeat) that are not run."""

    def __repr__(self) -> str:
        names = ", ".join(info.variant.name for info in self.variants)
        return f"<{type(self).__name__} {self.suite.name}: {len(self.cases)} cases, variants {names}>"

    @property
    def options(self) -> Options:
        """How the caller narrowed or changed the suite."""
        return self.request.options

    @property
    def pack(self) -> Pack:
        """The application under test."""
        return self.workspace.pack

    @property
    def by_id(self) -> Mapping[str, Case]:
        """The cases by name."""
        return {case.id: case for case in self.cases}
