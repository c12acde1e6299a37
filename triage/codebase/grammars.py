"""Tree-sitter grammars by file name, and which nodes of their syntax trees are definitions.

The grammars are compiled into wheels, so nothing is downloaded. A grammar is loaded when its first file is parsed.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import yaml

if TYPE_CHECKING:
    from tree_sitter import Language


@dataclass(frozen=True)
class Grammar:
    """A grammar and its node types. `distribution` names the wheel, `function` what returns the language.

    `scopes` are namespaces and modules, `types` are classes and whatever else holds methods, `leaves` are functions and
    definitions without parts. `wrappers` hold definitions without a name of their own; `outer` are wrappers that belong
    to the one definition in them, such as `export` or `template`. `leading` stand above a definition and belong to it.
    """

    distribution: str
    leaves: frozenset[str]
    types: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset({"comment"})
    function: str = "language"

    @property
    def release(self) -> str:
        """The wheel and its version."""
        return f"{self.distribution} {version(self.distribution)}"

    def language(self) -> "Language":
        """The compiled grammar."""
        return _language(self.distribution, self.function)


@cache
def _language(distribution: str, function: str) -> "Language":
    from tree_sitter import Language  # noqa: PLC0415  # a repository of Python alone does not need it

    module = import_module(distribution.replace("-", "_"))
    return Language(getattr(module, function)())


TABLE: Final = Path(__file__).with_name("grammars.yaml")


@cache
def by_suffix() -> dict[str, Grammar]:
    """Suffix of a file's name -> its grammar."""
    found: dict[str, Grammar] = {}
    for told in yaml.safe_load(TABLE.read_text(encoding="utf-8")).values():
        plain = {name: told.pop(name) for name in ("distribution", "function") if name in told}
        suffixes = told.pop("suffixes").split()
        types = {name: frozenset(names.split()) for name, names in told.items()}
        found |= dict.fromkeys(suffixes, Grammar(**{**plain, **types}))
    return found


def grammar_of(path: str) -> Grammar | None:
    """The grammar for a file of this name; None where it is cut by lines."""
    return by_suffix().get(PurePosixPath(path).suffix.lower())
