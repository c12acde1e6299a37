"""Sweep of thresholds and guard sets over the recordings."""
