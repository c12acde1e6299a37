"""Modules that harness and triage graph share: git, secrets, visible text, start of a command; they import neither."""
