"""Everything coldshelf raises on purpose.

ShelfError
├── ConfigError        a setting is missing or makes no sense
├── InvalidRequest     a name, key or option that cannot be used
├── EntryTooLarge      a value beyond the configured size
├── UnknownNamespace   nobody has opened a namespace of that name
├── EntryNotFound      no live entry under that key
├── AccessDenied       an unknown token, or one without the grant
├── CorruptRecord      bytes on disk that do not match their checksum
├── SnapshotError      a snapshot that cannot be made, trusted or restored
└── ShelfClosed        the store has been closed already
"""

from __future__ import annotations


class ShelfError(Exception):
    """Base of all errors; `code` is what clients see, `status` its family."""

    code = "internal"
    status = 500

    @property
    def message(self) -> str:
        """The text for people."""
        return str(self)


class ConfigError(ShelfError):
    """A setting is missing or makes no sense."""

    code = "config"


class InvalidRequest(ShelfError):
    """A name, key or option that cannot be used."""

    code = "invalid"
    status = 400


class EntryTooLarge(ShelfError):
    """A value beyond the configured size."""

    code = "too_large"
    status = 413


class UnknownNamespace(ShelfError):
    """Nobody has opened a namespace of that name."""

    code = "unknown_namespace"
    status = 404


class EntryNotFound(ShelfError):
    """No live entry under that key."""

    code = "not_found"
    status = 404


class AccessDenied(ShelfError):
    """An unknown token, or one without the grant."""

    code = "denied"
    status = 403


class CorruptRecord(ShelfError):
    """Bytes on disk that do not match their checksum."""

    code = "corrupt"


class SnapshotError(ShelfError):
    """A snapshot that cannot be made, trusted or restored."""

    code = "snapshot"
    status = 409


class ShelfClosed(ShelfError):
    """The store has been closed already."""

    code = "closed"
    status = 503
