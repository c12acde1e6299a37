"""Rubric of the judge of triage reports, what it is shown, and the defects planted to measure it."""
