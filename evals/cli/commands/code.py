"""`evals dataset code`: the code of foreign cases, taken out of clones into the checkout's cache."""

from pathlib import Path

from evals.dataset.clone import Clones, NoCodeError
from evals.dataset.commit_tree import take_in
from evals.dataset.load import load_cases
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, ConfigurationError
from evals.workspace import Workspace


def code(repos: Path, root: Path, dataset: Path | None = None) -> int:
    """Take in every commit a case of the dataset names; print what is missing. Returns 0 if nothing is, else 3.

    Raises:
        ConfigurationError: there is no such folder, or no case that names a commit.
        DatasetError: the dataset cannot be loaded.
    """
    workspace, clones = Workspace.at(root, dataset), Clones.below(repos)
    wanted: dict[tuple[str, str], None] = {}
    for case in load_cases(workspace.datasets).values():
        wanted.update(dict.fromkeys(case.labels.commits))
    if not wanted:
        raise ConfigurationError("no case of this dataset names a commit; import it with --repos to have its code")
    missing = 0
    for repository, commit in wanted:
        try:
            take_in(repository, commit, clones, workspace.cache)
        except NoCodeError as error:
            missing += 1
            print(f"{repository} at {commit[:12]}: {error}")
    print(f"{len(wanted) - missing} of {len(wanted)} commits are here")
    return EXIT_CANNOT_JUDGE if missing else EXIT_OK
