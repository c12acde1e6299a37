"""LangSmith: cases, runs and feedback exchanged with it."""

from typing import Any

from evals.langsmith.scorer_evaluators import HERE, evaluators
from evals.pack import load_pack
from evals.project import Project

__all__ = ["evaluators", "target"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the signature is the pack's
    """`target` is the pack's: only it knows how its application runs live."""
    if name == "target":
        return load_pack(Project.at(HERE).pack).live_target
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
