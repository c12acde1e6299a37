"""`evals cassette migrate`: files of an older schema, rewritten in today's."""

from pathlib import Path

from evals.cassette import manifest, migrations
from evals.cassette.migrations import MIGRATIONS, Steps
from evals.cassette.vcr_file import SCHEMA
from evals.errors import EXIT_OK
from evals.pipeline.recorded import below
from evals.workspace import Workspace


def migrate(root: Path, steps: Steps = MIGRATIONS, *, dataset: Path | None = None) -> int:
    """Migrate every cassette and list it anew. Returns 0.

    Raises:
        CassetteError: one cannot be migrated; it stays as it is, those before it are migrated.
    """
    workspace = Workspace.at(root, dataset)
    paths = sorted(workspace.cassettes.glob("*.yaml"))
    for path in paths:
        found = migrations.migrate(path, steps)
        if found is not None:
            manifest.enter(path)
            print(f"{below(path, workspace)}: schema {found} is now {SCHEMA}")
    print(f"{len(paths)} cassettes have schema {SCHEMA}")
    return EXIT_OK
