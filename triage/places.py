"""Where jobs are kept unless the command line says otherwise, below the folder it is run in."""

from pathlib import Path
from typing import Final

DEFAULT_JOBS: Final = Path(".triage/jobs.sqlite")
