"""A small inventory API over WSGI and sqlite3."""

__version__ = "1.5.0"
