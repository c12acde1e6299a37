"""What makes a traced job readable where it is traced (LangSmith, when its own variables say so): a name, tags, and
what was decided beside each visit of the supervisor. Where nothing is traced this does nothing; no request needs it.
"""

from collections.abc import Mapping
from typing import Any, Final

from langsmith.run_helpers import get_current_run_tree

from triage.options import Options

_TOLD: Final = {
    "next_node": "decision",
    "routed_node": "routed",
    "supervisor_confidence": "confidence",
    "forced_fallback": "forced_fallback",
}
"""Fields of a supervisor's update -> what its run calls them."""


def trace_config(job_id: str, options: Options) -> dict[str, Any]:
    """The name and the tags of a job's trace. What it runs with is in its metadata, as it is kept beside the job."""
    told = {"prompt": options.prompt, "guards": options.guards, "model": options.model}
    tags = ["triage", str(options.supervisor), *(f"{name}:{value}" for name, value in told.items() if value)]
    return {"run_name": f"triage {job_id}", "tags": tags}


def tell_decision(iteration: int, update: Mapping[str, Any]) -> None:
    """Put the decision in `update` beside the run of the supervisor's visit that is being traced, if one is."""
    run = get_current_run_tree()
    if run is None:
        return
    told: dict[str, Any] = {name: update[field] for field, name in _TOLD.items() if field in update}
    vetoes = [veto.guard for veto in update.get("vetoes", ())]
    run.add_metadata({"iteration": iteration, **told, **({"vetoes": vetoes} if vetoes else {})})
