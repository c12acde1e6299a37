"""Folders of a checkout: datasets, cassettes, reports and caches."""

import os
from dataclasses import dataclass
from pathlib import Path

from evals.application_pack import Pack, load_pack
from evals.errors import ConfigurationError
from evals.project import FILE, Project


@dataclass(frozen=True)
class Workspace:
    """The folders of one checkout."""

    root: Path
    datasets: Path
    """Labelled cases, codebases, web pages: the checkout's own unless another dataset was asked for."""

    @classmethod
    def at(cls, root: Path, dataset: Path | None = None) -> "Workspace":
        """The checkout at `root`, with the dataset in folder `dataset` instead of its own when one is named.

        A dataset below `datasets/` may be given by its name.

        Raises:
            ConfigurationError: there is no such dataset; or there is something in it, or among the cassettes, that is
                no file: a pipe that would be read for ever, a link to what is not of this checkout.
        """
        own = root / Project.at(root).cases
        by_name = dataset is not None and len(dataset.parts) == 1 and dataset.name != ".."
        if dataset is not None and (by_name or not dataset.exists()) and (own / dataset).is_dir():
            dataset = own / dataset
        if dataset is not None and not dataset.is_dir():
            hint = "`evals dataset import` writes one" if Project.at(root).suites is None else "its cases are in cases/"
            raise ConfigurationError(f"--dataset {dataset}: there is no such folder; {hint}")
        found = cls(root.resolve(), (dataset or own).resolve())
        if not found.datasets.is_dir() and (root / FILE).is_file():
            raise ConfigurationError(f"{root / FILE}: no folder {own.name!r} with cases; `evals init` makes one")
        if not found.datasets.is_dir():
            raise ConfigurationError(f"{root}: holds no datasets/; run `evals init` beside a langgraph.json")
        for folder in (found.datasets, found.cassettes, found.baselines):
            _refuse_what_is_no_file(folder, found)
        return found

    @property
    def pack(self) -> Pack:
        """The application under test. Raises ConfigurationError where it cannot be loaded."""
        return load_pack(self.project.pack, self.root)

    @property
    def project(self) -> Project:
        """The settings of the checkout."""
        return Project.at(self.root)

    @property
    def dataset_name(self) -> str | None:
        """What the dataset is called below `datasets/`; None for the checkout's own, and for one from elsewhere."""
        return self.datasets.name if self.datasets.parent == self.root / self.project.cases else None

    @property
    def cassettes(self) -> Path:
        """Recorded interactions, one file per case; those of a dataset below `datasets/` in a folder of its name."""
        own = self.root / self.project.cassettes
        return own / self.dataset_name if self.dataset_name else own

    @property
    def vectors(self) -> Path:
        """Committed embeddings of the datasets' chunks and the recorded queries."""
        return self.root / self.project.cassettes / "vectors.npz"

    @property
    def distances(self) -> Path:
        """Committed distances between the recorded queries and chunks of released packages."""
        return self.root / self.project.cassettes / "distances.npz"

    @property
    def reports(self) -> Path:
        """What runs write."""
        return self.root / self.project.reports

    @property
    def baselines(self) -> Path:
        """What each suite's variants did when last blessed."""
        return self.root / self.project.baselines

    @property
    def cache(self) -> Path:
        """What can be thrown away at any time."""
        return self.root / ".cache"

    def cassette(self, case_id: str) -> Path:
        """The cassette of one case."""
        return self.cassettes / f"{case_id}.yaml"

    @property
    def judge_cassettes(self) -> Path:
        """What a judge said of trials, one file per case, with a manifest of its own."""
        return self.cassettes / "judge"

    def judge_cassette(self, case_id: str) -> Path:
        """The judge's cassette of one case."""
        return self.judge_cassettes / f"{case_id}.yaml"


def _refuse_what_is_no_file(folder: Path, workspace: Workspace) -> None:
    if not folder.is_dir():
        return
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_symlink():
                target = Path(entry.path).resolve()
                if not any(map(target.is_relative_to, (workspace.root, workspace.datasets))):
                    raise ConfigurationError(f"{entry.path}: a link out of the checkout; put the file itself there")
            if entry.is_dir(follow_symlinks=False):
                _refuse_what_is_no_file(Path(entry.path), workspace)
            elif entry.is_dir() or entry.is_file() or not Path(entry.path).exists():
                continue
            else:
                raise ConfigurationError(f"{entry.path}: a pipe, a socket or a device, and no file; remove it")
