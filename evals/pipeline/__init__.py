"""The way of one run as plain functions: select, replay, judge, deliver. Nothing here prints or ends a process.

The command line reads options, shows progress and prints; whatever it does to cases, trials and runs, it does through
these functions.
"""
