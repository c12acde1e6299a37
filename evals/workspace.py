"""Where a checkout keeps its data. One value, made once by the command line and handed down."""

from dataclasses import dataclass
from pathlib import Path

from evals.errors import ConfigurationError


@dataclass(frozen=True)
class Workspace:
    """The folders of one checkout."""

    root: Path
    datasets: Path
    """Labelled cases, codebases, web pages: the checkout's own unless another dataset was asked for."""

    @classmethod
    def at(cls, root: Path, dataset: Path | None = None) -> "Workspace":
        """The checkout at `root`, with the dataset in folder `dataset` instead of its own when one is named.

        Raises:
            ConfigurationError: there is no such dataset.
        """
        if dataset is not None and not dataset.is_dir():
            raise ConfigurationError(f"--dataset {dataset}: there is no such folder; `evals dataset import` writes one")
        found = cls(root.resolve(), (dataset or root / "datasets").resolve())
        if not found.datasets.is_dir():
            raise ConfigurationError(f"{root}: holds no datasets/; run from the checkout, or name it with --root")
        return found

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
