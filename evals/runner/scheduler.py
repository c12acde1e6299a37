"""Where trials run: in processes of this machine, or on a cluster."""

from typing import Final

from evals.errors import ConfigurationError
from evals.runner.pool import Execute
from evals.workspace import Workspace

LOCAL: Final = "local"
DASK: Final = "dask://"


def scheduled(name: str, workspace: Workspace) -> Execute | None:
    """What runs the tasks of `local` (None: processes of this machine) or `dask://HOST:PORT`.

    Raises:
        ConfigurationError: neither of them, the extra `dask` is not installed, or workers of other code.
        CannotJudgeError: nobody there, or no workers.
    """
    if name == LOCAL:
        return None
    if not name.startswith(DASK):
        raise ConfigurationError(f"--scheduler {name}: write {LOCAL} or {DASK}HOST:PORT")
    try:
        from evals.runner.cluster import Cluster  # noqa: PLC0415 - distributed is an extra, and slow to load
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"--scheduler {name} needs the extra `dask` ({error.name} is missing): install it with `make dask`"
        ) from error
    return Cluster.at(name.removeprefix(DASK), workspace).run
