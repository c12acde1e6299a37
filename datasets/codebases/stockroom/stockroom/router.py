"""From method and path to a handler."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from stockroom.errors import MethodNotAllowed, NotFound
from stockroom.http import Request, Response

Handler = Callable[[Request], Response]

_PARAMETER = re.compile(r"{([a-z_]+)}")


@dataclass(frozen=True)
class Route:
    """One row of the table. `scope` is None where no token is needed."""

    method: str
    template: str
    pattern: re.Pattern[str]
    handler: Handler
    scope: str | None


@dataclass(frozen=True)
class Match:
    """A route and the values its template took from the path."""

    route: Route
    params: dict[str, str]


class Router:
    """An ordered table of routes; the first match wins."""

    def __init__(self) -> None:
        self._routes: list[Route] = []

    def add(self, method: str, template: str, handler: Handler, scope: str | None) -> None:
        """Register `handler` for `method` on a template such as `/v1/items/{sku}`."""
        self._routes.append(Route(method, template, _compile(template), handler, scope))

    def match(self, method: str, path: str) -> Match:
        """Find the route. Raises NotFound, or MethodNotAllowed if only the method is wrong."""
        wrong_method = False
        for route in self._routes:
            found = route.pattern.fullmatch(path)
            if found is None:
                continue
            if route.method == method:
                return Match(route, found.groupdict())
            wrong_method = True
        if wrong_method:
            raise MethodNotAllowed(f"{method} is not supported here")
        raise NotFound(f"no such path: {path}", "no_such_path")


def _compile(template: str) -> re.Pattern[str]:
    parts = _PARAMETER.split(template)
    literals, names = parts[::2], parts[1::2]
    pattern = re.escape(literals[0])
    for name, literal in zip(names, literals[1:]):
        pattern += f"(?P<{name}>[^/]+)" + re.escape(literal)
    return re.compile(pattern + "/?")
