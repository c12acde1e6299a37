"""A judge model: grades reports by a rubric and compares pairs of reports."""
