"""The plan of a recording: what is missing, why, and what it takes."""
