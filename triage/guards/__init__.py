"""Routing guards: what the code insists on, whatever the supervisor chose."""

from triage.guards.guard import Guard, GuardSet, Ruling, rule
from triage.guards.guard_sets import guard_set

__all__ = ["Guard", "GuardSet", "Ruling", "guard_set", "rule"]
