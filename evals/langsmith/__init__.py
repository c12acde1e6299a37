"""LangSmith: cases and runs sent to it, and our scorers as its evaluators."""

from evals.langsmith.scorer_evaluators import evaluators

__all__ = ["evaluators"]
