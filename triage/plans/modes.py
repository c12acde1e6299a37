"""The three modes: whether a plan is given, and whether the supervisor may change its shape."""

from typing import Final, Literal

Mode = Literal["fixed", "llm", "hybrid"]

MODES: Final[dict[str, Mode]] = {"plan-fixed": "fixed", "plan-llm": "llm", "plan-hybrid": "hybrid"}
"""Supervisor name -> mode."""


def starts_from_a_plan(mode: Mode) -> bool:
    """In `fixed` and `hybrid` a plan is given; in `llm` the first task is the supervisor's."""
    return mode != "llm"


def may_reshape(mode: Mode) -> bool:
    """In `llm` and `hybrid` tasks can be added and changed; in `fixed` the tools for it do not exist."""
    return mode != "fixed"
