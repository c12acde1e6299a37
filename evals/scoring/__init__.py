"""Scorers: functions of a case and a trace that give a number."""
