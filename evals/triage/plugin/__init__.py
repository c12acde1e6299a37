"""Fixtures of the triage pack for pytest."""
