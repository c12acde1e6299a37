"""Reading a `run.json` back."""

from pathlib import Path

from pydantic import ValidationError

from evals.errors import ConfigurationError
from evals.models.run import Run


def read_run(path: Path) -> Run:
    """The run stored at `path`.

    Raises:
        ConfigurationError: no such file, or not a run.
    """
    try:
        return Run.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({error.strerror}); `make eval` writes reports/latest"
        ) from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: not a run.json of this version ({error.error_count()} faults)") from error
