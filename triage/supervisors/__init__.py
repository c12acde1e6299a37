"""The supervisors a variant may choose from: siblings behind one signature."""

from typing import Final

from triage.supervisors import llm
from triage.supervisors.supervisor import MakesModels, Supervise, Supervisor

SUPERVISORS: Final[dict[str, Supervisor]] = {
    "llm": llm.supervisor,
}

__all__ = ["SUPERVISORS", "MakesModels", "Supervise", "Supervisor"]
