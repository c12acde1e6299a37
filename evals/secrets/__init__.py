"""Filters that keep secrets out of cassettes, caches and exports."""
