"""The indexed code of all cases that are being recorded, for as long as each of them is."""

from pathlib import Path

from evals.dataset.codebase import materialise
from evals.models.case import Case
from evals.subject.trial import Repository, embedder_at, trees_for
from evals.workspace import Workspace
from triage.codebase.distances import Distances


class Repositories:
    """Each case's code, indexed when it is first asked for; cases of equal code share it. One embedder serves them all:
    the model behind it is loaded as soon as a text is new, and takes sixty megabytes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._embedder = embedder_at(workspace.vectors)
        self._distances = Distances(workspace.distances)
        self._trees: dict[str, Path] = {}
        self._indexed: dict[Path, Repository] = {}

    def of(self, case: Case) -> Repository:
        """The code of `case`: indexing is the expensive part of a trial."""
        if case.id not in self._trees:
            self._trees[case.id] = materialise(case, self._workspace.datasets, self._workspace.cache)
        tree = self._trees[case.id]
        if tree not in self._indexed:
            self._indexed[tree] = self._index(case, tree)
        return self._indexed[tree]

    def _index(self, case: Case, tree: Path) -> Repository:
        if case.tree is not None:
            return Repository.of_release(tree, self._distances)
        return Repository.over(tree, self._embedder, trees_for(case, self._workspace.cache))

    def close(self, case: Case) -> None:
        """No trial of `case` is to come: what its index took is given back, unless another case searches the same."""
        tree = self._trees.pop(case.id, None)
        if tree is None or tree in self._trees.values():
            return
        self._indexed.pop(tree).index.forget()

    def save(self) -> None:
        """Add what had to be computed since the last time to the committed vectors, so that no other machine does."""
        if self._embedder.computed:
            self._embedder.cache.save(self._workspace.vectors)
            self._embedder.computed = 0
        if self._distances.new:
            self._distances.save()
