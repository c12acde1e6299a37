"""Runs all trials of a suite: offline, in a process pool, without running an unchanged trial twice."""
