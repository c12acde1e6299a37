"""The supervisors a variant may choose from: siblings behind one signature."""

from typing import Final

from triage.supervisors import agent_registry_supervisor as registry
from triage.supervisors import llm_supervisor as llm
from triage.supervisors import plan, rules
from triage.supervisors.supervisor import MakesModels, Supervise, Supervisor, Tools

SUPERVISORS: Final[dict[str, Supervisor]] = {
    "llm": llm.supervisor,
    "rules": rules.supervisor,
    "registry": registry.supervisor,
    "plan-fixed": plan.fixed,
    "plan-llm": plan.llm,
    "plan-hybrid": plan.hybrid,
}

__all__ = ["SUPERVISORS", "MakesModels", "Supervise", "Supervisor", "Tools"]
