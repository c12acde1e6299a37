"""A job scheduler and worker queue that keeps its jobs in one SQLite file."""

__version__ = "1.8.2"
