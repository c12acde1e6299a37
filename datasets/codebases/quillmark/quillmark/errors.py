"""What can go wrong while a site is built.

QuillError
├── ConfigError      the configuration cannot be used
├── SourceError      a page or snippet cannot be read as markup
│   └── IncludeError a file that should be included is missing, outside the content folder, or includes itself
├── TemplateError    a layout is not well-formed, or uses something that does not exist
└── PluginError      a plugin cannot be loaded or registers nonsense

Every message is meant for the author of the site and says where to look.
"""

from __future__ import annotations


class QuillError(Exception):
    """Anything the author of a site can mend."""


class ConfigError(QuillError):
    """A setting is unknown or does not fit its type."""


class SourceError(QuillError):
    """A source file is at fault; the message begins with its path and line."""

    def __init__(self, message: str, path: str, line: int = 0) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(f"{place}: {message}")


class IncludeError(SourceError):
    """An `!include` cannot be followed."""


class TemplateError(QuillError):
    """A layout is at fault."""

    def __init__(self, message: str, template: str, line: int = 0) -> None:
        place = f"{template}:{line}" if line else template
        super().__init__(f"{place}: {message}")


class PluginError(QuillError):
    """A plugin is at fault."""
