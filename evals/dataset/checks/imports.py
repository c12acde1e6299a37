"""What a dataset's code may import: itself and the standard library, so that it runs wherever Python does."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from evals.dataset.finding import Complaint


def foreign_imports(path: Path, own: frozenset[str]) -> Iterator[Complaint]:
    """Absolute imports of `path` that are neither in the standard library nor among the modules `own`; nothing for a
    file that does not parse, since it fails anyway."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        for name in _imported(node):
            if name not in sys.stdlib_module_names and name not in own:
                message = f"imports {name!r}; only the codebase itself and the standard library are there"
                yield Complaint(message, path, getattr(node, "lineno", 1))


def modules_of(tree: Path) -> frozenset[str]:
    """The names that can be imported from a codebase: its top-level packages and modules."""
    return frozenset(path.stem for path in tree.iterdir() if path.is_dir() or path.suffix == ".py")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module.partition(".")[0]
