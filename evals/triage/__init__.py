"""The only door to `triage`: nothing else in this package knows the graph's own types."""
