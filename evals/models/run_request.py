"""What a run is asked for, and the file of one shard of a run."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from evals.errors import ConfigurationError
from evals.models.base import Closed, Sealed
from evals.models.trace import Trace
from evals.paths import path_of_user
from evals.shared.display_text import some

LOCAL: Final = "local"
DASK: Final = "dask://"
TRIAL_TIMEOUT: Final = 60.0
"""Seconds a trial may take; a replayed one takes a fraction of one."""
_WRITTEN: Final = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True)
class Share:
    """Share `number` of `of`, counted from 1. What is dealt out is a case and a sample, with all its variants."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Share":
        """`2/3`: the second of three.

        Raises:
            ConfigurationError: anything else.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise ConfigurationError(f"--shard {text}: write NUMBER/OF, counted from 1, such as 2/3")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"

    def has(self, position: int) -> bool:
        """Whether the one at `position`, counted from 0, is in it."""
        return position % self.of == self.number - 1

    def size(self, whole: int) -> int:
        """How many of `whole` are in it."""
        return len(range(self.number - 1, whole, self.of))


WHOLE: Final = Share()


@dataclass(frozen=True)
class Options:
    """How a caller narrows or changes a suite; what is not given is as the suite has it."""

    settings: Mapping[str, str | int] = field(default_factory=dict)
    """What is changed in every variant: those of `evals.application_pack.Pack.run_settings`, by name."""
    cases: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    dataset: Path | None = None
    open_holdout: str | None = None
    samples: int | None = None

    def __post_init__(self) -> None:
        """Names are tuples, the dataset is a path. Raises ConfigurationError for a text in place of names."""
        for member in ("cases", "variants"):
            given = getattr(self, member)
            if isinstance(given, str) or not isinstance(given, Iterable):
                raise ConfigurationError(f"Options: {member} is several names; write {member}=({given!r},)")
            object.__setattr__(self, member, tuple(given))
        if self.dataset is not None:
            object.__setattr__(self, "dataset", path_of_user(self.dataset, "dataset"))

    @property
    def partial(self) -> tuple[str, ...]:
        """Why the run is not the whole suite, as sentences; empty if it is."""
        said = []
        if self.cases:
            said.append(f"only {some(self.cases)} of the suite's cases were run (--case)")
        if self.variants:
            said.append(f"only {some(self.variants)} of the suite's variants were run (--variant)")
        return tuple(said)

    def words(self) -> tuple[str, ...]:
        """The options again, as they are typed; that a holdout was opened is not repeated."""
        named = (("--dataset", self.dataset), ("--repeat", self.samples))
        pairs = [f"{name}={value}" for name, value in self.settings.items()]
        repeated = (("--set", pairs), ("--case", self.cases), ("--variant", self.variants))
        return (
            *(word for name, value in named if value for word in (name, str(value))),
            *(word for name, values in repeated for value in values for word in (name, value)),
        )

    def asked(self, suite: str) -> "SuiteSelection":
        """The suite and the options, as a shard keeps them."""
        told = {**asdict(self), "dataset": str(self.dataset) if self.dataset else None}
        return SuiteSelection.model_validate({"suite": suite, **told})

    @classmethod
    def of(cls, asked: "SuiteSelection") -> "Options":
        """The options a shard was made with."""
        told = asked.model_dump(exclude={"suite"})
        return cls(**{**told, "dataset": Path(asked.dataset) if asked.dataset else None})


@dataclass(frozen=True)
class RunRequest:
    """One run as it was asked for. No step of the pipeline takes these one by one."""

    suite: str
    root: Path = Path()
    options: Options = Options()
    jobs: int = 1
    fresh: bool = False
    trial_timeout: float = TRIAL_TIMEOUT
    share: Share = WHOLE
    scheduler: str = LOCAL
    """Who runs the trials: `local` (processes of this machine), or `dask://HOST:PORT`."""
    decisive: bool = False
    """Whether failed trials are run again with choices forced; see `evals.pipeline.decisive_step`."""
    out: Path | None = None
    annotations: bool = False
    verbose: bool = False
    today: date | None = None
    """The day an opening of the holdout is counted under; that of the clock if not given."""

    def folder(self, reports: str) -> Path:
        """Where the report goes: `out`, else `latest` below the project's folder of reports."""
        return self.out or self.root.resolve() / reports / "latest"

    def words(self) -> tuple[str, ...]:
        """The request as it is typed behind `evals run`."""
        return (
            *(self.suite, "--root", str(self.root), *self.options.words(), "--jobs", str(self.jobs)),
            *("--set", f"trial_timeout={self.trial_timeout}", "--scheduler", self.scheduler),
            *(("--fresh",) if self.fresh else ()),
            *(("--decisive",) if self.decisive else ()),
            *(("--out", str(self.out)) if self.out else ()),
            *(("--annotations",) if self.annotations else ()),
            *(("--verbose",) if self.verbose else ()),
        )


SHARD_SCHEMA: Final = 3
"""3 has changed settings as a mapping."""


class SuiteSelection(Closed):
    """How the command line named, narrowed and changed the suite; `dataset` is the folder as it was typed."""

    suite: str
    settings: dict[str, str | int] = Field(default_factory=dict)
    cases: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    dataset: str | None = None
    open_holdout: str | None = None
    samples: int | None = None


class Shard(Sealed):
    """Share `number` of `of` of what was asked for.

    `rests_on` holds a digest of each thing the traces depend on, and `traces` the traces by what they are stored under.
    Nothing is scored or judged yet.
    """

    schema_version: Annotated[int, Field(ge=1, le=SHARD_SCHEMA)] = SHARD_SCHEMA
    asked: SuiteSelection
    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]
    rests_on: dict[str, str]
    traces: dict[str, Trace]
