"""Which cassette a command means: the name of a case, or a file."""

from pathlib import Path

from evals.cassette.store import Cassette, load
from evals.errors import ConfigurationError
from evals.workspace import Workspace


def recorded(name: str, workspace: Workspace) -> Cassette:
    """The cassette of case `name`, or in file `name`.

    Raises:
        ConfigurationError: there is neither.
        CassetteError: it cannot be trusted.
    """
    path = path_of(name, workspace)
    if not path.is_file():
        raise ConfigurationError(
            f"{name}: no cassette of this case and no such file; `evals cassette status` lists them"
        )
    return load(path)


def path_of(name: str, workspace: Workspace) -> Path:
    """The file, if `name` ends like one; else where the case's cassette is or would be."""
    return Path(name) if name.endswith((".yaml", ".yml")) else workspace.cassette(name)


def below(path: Path, workspace: Workspace) -> Path:
    """The path as seen from the checkout, where it is in it."""
    return path.relative_to(workspace.root) if path.is_relative_to(workspace.root) else path
