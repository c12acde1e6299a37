"""The pipeline of a run: select, replay, score, compare, decide, write."""
