"""Putting real traffic on record: what has to be asked, who answers, and the proof that the record replays."""
