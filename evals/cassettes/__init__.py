"""Cassettes: recorded LLM and search traffic as stock VCR files, replayed without a socket."""
