"""One configuration of the graph: what a variant may vary without touching a worker."""

from dataclasses import dataclass

from triage.prompts import SupervisorPrompt
from triage.state import ConfidenceFloor


@dataclass(frozen=True)
class Configuration:
    """The supervisor and its prompt, the guard set by name, and the thresholds to enforce in code, if any."""

    prompt: SupervisorPrompt
    guards: str = "hardened"
    confidence_floor: ConfidenceFloor | None = None
    supervisor: str = "llm"
