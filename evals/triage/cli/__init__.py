"""Commands of the triage pack."""
