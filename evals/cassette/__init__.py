"""Recorded LLM and search traffic: stored as stock VCR files, replayed without a socket, recorded once."""
