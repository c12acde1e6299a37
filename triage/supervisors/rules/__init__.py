"""The supervisor of seed 001: no model, but ordered rules over several signals, with retries before questions."""

from triage.supervisors.rules.rules_supervisor import supervisor

__all__ = ["supervisor"]
