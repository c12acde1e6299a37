"""Offline evaluation and prompt regression for agent graphs."""
