"""A small real LLM on loopback, to record with where no paid endpoint can be reached."""
