"""The commands of `triage`, one a file; they do not know each other."""
