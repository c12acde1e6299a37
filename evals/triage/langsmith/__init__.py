"""LangSmith: the live graph as a target, and traces and feedback as cases and notes."""
