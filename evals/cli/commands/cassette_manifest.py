"""`evals cassette manifest`: the list of committed cassettes, made anew."""

from pathlib import Path

from evals.cassette import manifest as listing
from evals.errors import EXIT_OK
from evals.workspace import Workspace


def manifest(root: Path, *, dataset: Path | None = None) -> int:
    """Write the manifest. Returns 0; raises CassetteError for a cassette that cannot be trusted."""
    workspace = Workspace.at(root, dataset)
    count = listing.write(workspace.cassettes)
    print(f"{workspace.cassettes.name}/{listing.NAME} lists {count} cassettes")
    if workspace.judge_cassettes.is_dir():
        count = listing.write(workspace.judge_cassettes)
        print(f"{workspace.cassettes.name}/judge/{listing.NAME} lists {count} cassettes")
    return EXIT_OK
