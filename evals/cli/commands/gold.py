"""`evals dataset gold`: what a case's patch proves, ready to be pasted."""

from pathlib import Path

import yaml

from evals.dataset.codebase import build_tree
from evals.dataset.gold import derive_gold
from evals.dataset.layout import Layout
from evals.dataset.load import case_ids, read_labels
from evals.errors import EXIT_OK, DatasetError
from evals.workspace import Workspace


def gold(case: str, root: Path, dataset: Path | None = None) -> int:
    """Print the `gold:` block that the case's patch proves. Returns 0; raises ConfigurationError, DatasetError."""
    workspace = Workspace.at(root, dataset)
    layout = Layout(workspace.datasets)
    if case not in case_ids(workspace.datasets):
        raise DatasetError(f"{case}: there is no such case; `evals dataset new` makes one")
    patch = layout.patch(case)
    if not patch.exists():
        raise DatasetError(f"{patch}: is missing; without a patch gold is empty and there is nothing to derive")
    codebase = read_labels(layout.labels(case)).codebase
    if codebase is None:
        raise DatasetError(f"{patch}: belongs to an imported case; gold is derived only where the code is here")
    clean = layout.codebase(codebase)
    trees = (build_tree(clean, change, workspace.cache) for change in (None, patch))
    found = derive_gold(*trees).model_dump(mode="json", exclude={"whole_names"})  # those are of imported cases only
    print(yaml.safe_dump({"gold": found}, sort_keys=False), end="")
    return EXIT_OK
