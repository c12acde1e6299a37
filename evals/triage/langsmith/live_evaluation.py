"""The live graph as a target of `langsmith.evaluate`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.errors import ConfigurationError
from evals.langsmith.scorer_evaluators import HERE, TRACE
from evals.langsmith.trial_runs import result_of
from evals.triage.dataset.load_cases import load_cases
from evals.workspace import Workspace

Target = Callable[[dict[str, Any]], dict[str, Any]]


def target(
    *,
    prompt: str | None = None,
    supervisor: str = "llm",
    guards: str = "hardened",
    model: str | None = None,
    root: Path = HERE,
    dataset: Path | None = None,
) -> Target:
    """The live graph as a target of `langsmith.evaluate`: it works on the issue of each example, over the code of its
    case, and the simulated user answers. The endpoint is that of `triage run`, from the `TRIAGE_` variables.

    Raises:
        ConfigurationError: no endpoint, or no such prompt, supervisor, guard set or dataset.
    """
    from evals.triage.live_target import LiveTeam  # noqa: PLC0415 - loads LangGraph

    workspace = Workspace.at(root, dataset)
    cases = {(case.title, case.body): case for case in load_cases(workspace.datasets).values()}
    team = LiveTeam(workspace, supervisor, prompt, guards, model)

    def triage(inputs: dict[str, Any]) -> dict[str, Any]:
        """What the team did with an issue; its trace is for the evaluators."""
        case = cases.get((str(inputs.get("title")), str(inputs.get("body"))))
        if case is None:
            raise ConfigurationError("no case here has this issue: `evals langsmith push cases` sends those there are")
        trace = team.work_on(case)
        return {**result_of(trace), TRACE: trace.model_dump(mode="json")}

    return triage
