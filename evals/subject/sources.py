"""Which files make up the graph, for digests; importing this loads none of it."""

from pathlib import Path

import triage.state


def graph_sources() -> list[Path]:
    """Code and agent prompts of the graph, sorted. Supervisor prompts are left out: each variant brings its own."""
    root = Path(triage.state.__file__).parent
    found = [*root.rglob("*.py"), *root.rglob("*.md")]
    return sorted(path for path in found if path.parent.name != "supervisor")
