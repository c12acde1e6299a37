"""Sections of the report of a run that only triage has."""
