"""Analyses of a suite: self-test, sweep, drift, history, disputes."""
