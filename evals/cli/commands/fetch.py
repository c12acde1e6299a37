"""`evals dataset fetch`: the released packages that a dataset is about, from whatever index the user's pip asks."""

import sys
from pathlib import Path

from evals.cli.terminal.progress import bar
from evals.dataset.load import load_cases
from evals.dataset.releases.fetch import fetch as fetch_all
from evals.dataset.releases.here import all_releases, lay_out
from evals.dataset.releases.shelf import Shelf
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE, ConfigurationError, ReleaseError
from evals.workspace import Workspace


def fetch(root: Path, dataset: Path | None = None) -> int:
    """Fetch what is not here, and say in one line each what could not be. Returns 0 if all are here, 1 if a release is
    not what the dataset says or cannot be used, 3 if no index could be reached.

    Raises:
        ConfigurationError, DatasetError: the dataset is wrong, or about no released package.
    """
    workspace = Workspace.at(root, dataset)
    cases = load_cases(workspace.datasets).values()
    wanted = all_releases(cases, workspace.datasets)
    if not wanted:
        raise ConfigurationError(
            f"{workspace.datasets}: no case is about a released package; there is nothing to fetch"
        )
    shelf = Shelf(workspace.cache)
    missing = shelf.missing(wanted)
    with bar("fetching", len(missing)) as shown:
        wrong = fetch_all(missing, shelf, shown.step, shown.note)
    for error in wrong:
        print(f"evals: {error}", file=sys.stderr)
    print(
        f"{len(wanted) - len(wrong)} of {len(wanted)} releases are here, {len(missing) - len(wrong)} fetched just now"
    )
    if not wrong:
        lay_out(cases, workspace.datasets, workspace.cache)
        return EXIT_OK
    return EXIT_WORSE if any(isinstance(error, ReleaseError) for error in wrong) else EXIT_CANNOT_JUDGE
