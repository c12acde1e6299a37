"""What our datasets are called there."""

from typing import Final

from evals.workspace import Workspace

OURS: Final = "triage-evals"


def name_of(workspace: Workspace) -> str:
    """The checkout's own dataset by the project's name, any other one behind it."""
    own = workspace.datasets == workspace.root / "datasets"
    return OURS if own else f"{OURS}/{workspace.datasets.name}"
