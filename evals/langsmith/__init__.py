"""LangSmith, for teams that have it: our cases and runs there, what people say of them back here. Nothing leaves this
machine unless one of its commands is given, and no other command imports this.
"""

from evals.langsmith.evaluation import evaluators, target

__all__ = ["evaluators", "target"]
