"""Modules that a module imports, directly or by others: the code that has a say in what it computes."""

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path


def imported_by(modules: Iterable[Path], package: Path, without: Collection[str] = ()) -> dict[Path, bytes]:
    """The content of these modules and of all they import from the package, sorted by path.

    Packages on the way count as well: Python executes their `__init__`. Imports for the type checker alone do not, nor
    do the subpackages named in `without`.
    """
    found: dict[Path, bytes] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found and module.relative_to(package).parts[0] not in without:
            found[module] = module.read_bytes()
            waiting += [path for name in _names(found[module]) for path in _files(name, package)]
    return dict(sorted(found.items()))


@lru_cache(1024)
def _names(source: bytes) -> tuple[str, ...]:
    """What a source imports: modules, and names that may be modules."""
    found = []
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return tuple(found)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements but those below `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield child
            yield from _statements(child)


def _files(name: str, package: Path) -> Iterator[Path]:
    """The files that Python executes for a module: its own, and the `__init__` of each package it is in. That of
    the whole package is left out: it loads nothing."""
    first, *rest = name.split(".")
    for depth in range(1, len(rest) + 1) if first == package.name else ():
        place = package.joinpath(*rest[:depth])
        yield from (path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file())
