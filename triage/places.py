"""Where jobs are kept unless the command line says otherwise, below the folder it is run in."""

from pathlib import Path
from typing import Final

DEFAULT_JOBS: Final = Path(".triage/jobs.sqlite")
JOB_FILES: Final = ("report.md", "report.json", "comment.md", "ticket.json", "trace.json")
"""Files that jobs write to their folder."""
