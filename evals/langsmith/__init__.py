"""LangSmith: cases and runs sent to it, and our scorers as its evaluators."""

from evals.langsmith.dataset_sync import evaluators

__all__ = ["evaluators"]
