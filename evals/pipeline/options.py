"""How a suite is narrowed or changed before it is run."""

from dataclasses import asdict, dataclass
from pathlib import Path

from evals.models.shard import Asked


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

    def asked(self, suite: str) -> Asked:
        """The suite and the options, as a shard keeps them."""
        told = {**asdict(self), "dataset": str(self.dataset) if self.dataset else None}
        return Asked.model_validate({"suite": suite, **told})

    @classmethod
    def of(cls, asked: Asked) -> "Options":
        """The options a shard was made with."""
        told = asked.model_dump(exclude={"suite"})
        return cls(**{**told, "dataset": Path(asked.dataset) if asked.dataset else None})
