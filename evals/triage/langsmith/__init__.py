"""LangSmith: the live graph as a target."""
