"""Where a checkout keeps its data. One value, made once by the command line and handed down."""

from dataclasses import dataclass
from pathlib import Path

from evals.errors import ConfigurationError


@dataclass(frozen=True)
class Workspace:
    """The folders of one checkout."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> "Workspace":
        """The checkout at `root`.

        Raises:
            ConfigurationError: there is no dataset below it.
        """
        found = cls(root.resolve())
        if not found.datasets.is_dir():
            raise ConfigurationError(f"{root}: holds no datasets/; run from the checkout, or name it with --root")
        return found

    @property
    def datasets(self) -> Path:
        """Labelled cases, codebases, web pages."""
        return self.root / "datasets"

    @property
    def cassettes(self) -> Path:
        """Recorded interactions, one file per case."""
        return self.root / "cassettes"

    @property
    def vectors(self) -> Path:
        """Committed embeddings of the datasets' chunks and the recorded queries."""
        return self.cassettes / "vectors.npz"

    @property
    def reports(self) -> Path:
        """What runs write."""
        return self.root / "reports"

    @property
    def baselines(self) -> Path:
        """What each suite's variants did when last blessed."""
        return self.root / "evals" / "suites" / "baselines"

    @property
    def cache(self) -> Path:
        """What can be thrown away at any time."""
        return self.root / ".cache"

    def cassette(self, case_id: str) -> Path:
        """The cassette of one case."""
        return self.cassettes / f"{case_id}.yaml"
