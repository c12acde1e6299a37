"""Nodes of the triage graph that a route can have."""

from typing import Final

NODE_CAPS: Final[dict[str, int]] = {
    "investigator": 2,
    "codebase_search": 3,
    "web_search": 2,
    "critic": 1,
    "human_input": 1,
    "writer": 1,
}
"""How many steps each node may have where a specification does not say it."""
NODES: Final[tuple[str, ...]] = tuple(NODE_CAPS)
CHOICES: Final[tuple[str, ...]] = (*NODES, "end")
LAST: Final = "writer"
"""The node that ends a route: a step after it costs precision."""
SEVERITIES: Final = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
"""Of a report, the least severe first."""
NODE_LETTERS: Final[dict[str, str]] = {
    "investigator": "I",
    "codebase_search": "C",
    "web_search": "W",
    "critic": "K",
    "human_input": "H",
    "writer": "Wr",
}
"""What a route strip of the report shows for a node."""
