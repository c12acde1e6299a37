"""The supervisor of seed 004: a model that reads a registry of agents, and replies in plain text."""

from triage.supervisors.registry.node import supervisor

__all__ = ["supervisor"]
