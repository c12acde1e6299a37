"""Labelled cases: reading them, building their code, checking their labels."""
