"""coldshelf: an embedded key-value store for values that are written once and read for a long time."""

__version__ = "0.9.4"
