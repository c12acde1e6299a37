"""`evals cassette adopt`: a stock VCR recording, taken into a case's cassette."""

from pathlib import Path

from evals.cassette import manifest
from evals.cassette.stock import stock_interactions
from evals.cassette.store import load, merge_write
from evals.dataset.layout import Layout
from evals.dataset.load import case_ids, load_case
from evals.dataset.policy import load_policy
from evals.errors import EXIT_OK, ConfigurationError
from evals.pipeline.recorded import below
from evals.workspace import Workspace


def adopt(recording: Path, case: str, root: Path, *, recorded_by: str, dataset: Path | None = None) -> int:
    """Merge the recording into the cassette; what is there already stays. Returns 0.

    Raises:
        ConfigurationError: there is no such case.
        CassetteError, SecretFoundError: the recording cannot be taken over, or must not be; nothing is written.
    """
    workspace = Workspace.at(root, dataset)
    if case not in case_ids(workspace.datasets):
        raise ConfigurationError(f"{case}: there is no such case; `evals dataset new` writes one")
    path = workspace.cassette(case)
    before = len(load(path).interactions)
    found = stock_interactions(recording, recorded_by)
    tree = load_case(workspace.datasets, case, load_policy(Layout(workspace.datasets).policy)).tree
    after = len(merge_write(path, found, tree=tree).interactions)
    manifest.enter(path)
    print(f"{below(path, workspace)}: {after - before} of {len(found)} interactions are new")
    return EXIT_OK
