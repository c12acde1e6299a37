"""What a run is assembled from: suite, cases, variants, scored trials, and the baseline if one applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evals.models.case import Case
from evals.models.run import Baseline, CaseInfo, DatasetBaseline, Scope, Trial, VariantInfo
from evals.models.suite import Suite


@dataclass(frozen=True)
class Material:
    """What a run is assembled from. `baseline` is None when there is none, or none that applies; `scorers` is set
    where the scores are not of this code but of the stored run they were read from; `unblessed` says why the suite's
    baseline does not apply, where it has one. `default_prompts`: supervisor -> version and digest of the prompt that
    `triage run` gives it by default."""

    suite: Suite
    cases: Sequence[Case] | Sequence[CaseInfo]
    variants: Sequence[VariantInfo]
    trials: Sequence[Trial]
    scope: Scope
    dataset_baselines: Sequence[DatasetBaseline]
    baseline: Baseline | None
    wants_baseline: bool
    partial: tuple[str, ...]
    record_command: str
    bless_command: str
    scorers: str | None = None
    unblessed: tuple[str, ...] = ()
    cassettes: Mapping[str, str] = field(default_factory=dict)
    """Case -> digest of the cassette that answered."""
    default_prompts: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The variants' names, in the suite's order."""
        return tuple(info.variant.name for info in self.variants)
