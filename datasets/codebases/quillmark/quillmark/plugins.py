"""Directives and filters: those that come along, and those that plugins add."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quillmark.errors import PluginError
from quillmark.escape import Safe, escape, safe_url

log = logging.getLogger(__name__)

_NAME = re.compile(r"[a-z][\w-]*")
_OPTION = re.compile(r"(?P<name>[a-z][\w-]*)=(?:\"(?P<quoted>[^\"]*)\"|(?P<bare>\S+))")


@dataclass(frozen=True)
class Call:
    """One use of a directive: `title` is its argument without the `name=value` options, `body` is rendered."""

    name: str
    title: str
    options: Mapping[str, str]
    body: Safe
    toc: Safe


DirectiveFunction = Callable[[Call], Safe]
FilterFunction = Callable[..., Any]


@dataclass
class Registry:
    """What a page or a layout may use by name."""

    directives: dict[str, DirectiveFunction] = field(default_factory=dict)
    filters: dict[str, FilterFunction] = field(default_factory=dict)

    def directive(self, name: str, function: DirectiveFunction) -> None:
        """Make `::name` known; a plugin may replace a directive that comes along."""
        self.directives[_checked(name)] = function

    def filter(self, name: str, function: FilterFunction) -> None:
        """Make `| name` known in layouts."""
        self.filters[_checked(name)] = function


def default_registry(filters: Mapping[str, FilterFunction]) -> Registry:
    """The registry before any plugin has been loaded."""
    registry = Registry(filters=dict(filters))
    for kind in ("note", "tip", "warning"):
        registry.directive(kind, _box)
    registry.directive("figure", _figure)
    registry.directive("toc", lambda call: Safe(f'<nav class="toc">{call.toc}</nav>'))
    return registry


def load_plugins(registry: Registry, modules: Iterable[str]) -> None:
    """Import each module and let its `register(registry)` add to the registry. Raises PluginError."""
    for name in modules:
        module = importlib.import_module(name)
        register = getattr(module, "register", None)
        if not callable(register):
            raise PluginError(f"the plugin {name} has no function register(registry)")
        register(registry)
        log.debug("plugin %s loaded", name)


def split_argument(argument: str) -> tuple[str, dict[str, str]]:
    """The free text of an argument, and its options."""
    options = {
        match["name"]: match["quoted"] if match["quoted"] is not None else match["bare"]
        for match in _OPTION.finditer(argument)
    }
    return " ".join(_OPTION.sub(" ", argument).split()), options


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise PluginError(f"{name!r} cannot be the name of a directive or filter")
    return name


def _box(call: Call) -> Safe:
    title = f'<p class="title">{escape(call.title)}</p>' if call.title else ""
    return Safe(f'<div class="{escape(call.name)}">{title}{call.body}</div>')


def _figure(call: Call) -> Safe:
    width = f' width="{escape(call.options["width"])}"' if "width" in call.options else ""
    source = escape(safe_url(call.options.get("src", "")))
    caption = call.body or escape(call.title)
    return Safe(
        f'<figure><img src="{source}" alt="{escape(call.title)}"{width}><figcaption>{caption}</figcaption></figure>'
    )
