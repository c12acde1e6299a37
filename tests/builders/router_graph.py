"""A graph of one router and the nodes that it chooses from, `a`, `b` and `c`; alone, or as a subgraph."""

from typing import Any

from langgraph.graph import END, START, StateGraph


def a_router_graph(state: Any, router: Any, edge: Any = None, first: Any = None) -> Any:
    """The router chooses by itself, or `edge` does behind it; a node `first` may come before."""
    builder = StateGraph(state)
    for name, node in (("router", router), ("a", _nothing), ("b", _nothing), ("c", _nothing)):
        builder.add_node(name, node)
    if first is not None:
        builder.add_node("first", first)
        builder.add_edge("first", "router")
    builder.add_edge(START, "router" if first is None else "first")
    if edge is not None:
        builder.add_conditional_edges("router", edge, ["a", "b", END])
    return builder.compile()


def inside(state: Any, graph: Any) -> Any:
    """The graph as the node `team` of another."""
    outer = StateGraph(state)
    outer.add_node("team", graph)
    outer.add_edge(START, "team")
    return outer.compile()


def _nothing(_state: Any) -> dict[str, Any]:
    return {}
