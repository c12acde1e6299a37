"""Which files make up the graph, for digests; importing this loads none of it."""

from pathlib import Path

import triage.state


def graph_sources() -> list[Path]:
    """Code and agent prompts of the graph, sorted. Supervisor prompts are left out: each variant brings its own."""
    root = graph_folder()
    found = [*root.rglob("*.py"), *root.rglob("*.md")]
    return sorted(path for path in found if path.parent.name != "supervisor")


def graph_folder() -> Path:
    """The folder that holds all of the graph: code, prompts, guards and plans."""
    return Path(triage.state.__file__).parent
