"""Symbols of source files: functions and classes as tree-sitter sees them, and the grammars."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import yaml

if TYPE_CHECKING:
    from tree_sitter import Language, Node


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


MAX_CHARS: Final = 400_000
"""A longer file is cut by lines."""
MAX_SECONDS: Final = 10.0
"""Processor time for parsing one file; 400,000 characters of ordinary code take less than one second."""
MAX_DEPTH: Final = 50
"""Definitions and wrappers in each other."""
MAX_BROKEN: Final = 0.1
"""Share of a file that may lie in nodes that could not be parsed: macros of C make some in sound files."""
MINIFIED_CHARS: Final = 200
"""Mean length of the lines of a minified file, at least; code that people write has 30 to 60."""
MINIFIED_FROM: Final = 2_000
"""Characters of a file that can be minified."""
_SLICE: Final = 65_536
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_VALUES: Final = _FUNCTIONS | {"class", "object"}
_ASSIGNED: Final = frozenset(
    {
        "variable_declarator",
        "public_field_definition",
        "field_definition",
        "pair",
        "assignment_expression",
        "assignment",
    }
)
_GENERIC: Final = re.compile(r"<.*>|\[.*\]", re.DOTALL)
_PREFIXES: Final = re.compile(r"^(module\.)?exports\.(?=.)|\.prototype(?=\.)")


@dataclass(frozen=True)
class SymbolDefinition:
    """Lines `start` to `end` (from 1, both included) define `name`, the whole name with dots.

    `inner` are the definitions in it. A `scope` is a namespace or module, which is never one chunk with its parts.
    """

    name: str
    start: int
    end: int
    inner: tuple["SymbolDefinition", ...] = ()
    scope: bool = False


class TooDeepError(Exception):
    """The definitions are nested too deeply."""


def definitions_of(text: str, grammar: Grammar) -> tuple[SymbolDefinition, ...] | None:
    """The outermost definitions of a file, by line, without overlaps; None where the file is too long, minified,
    broken, nested too deeply or parsed too slowly to have any."""
    minified = len(text) > MINIFIED_FROM and len(text) > MINIFIED_CHARS * (text.count("\n") + 1)
    source = text.encode()
    root = None if minified or len(text) > MAX_CHARS else _parsed(source, grammar)
    if root is None or (root.has_error and _broken_bytes(root) > MAX_BROKEN * max(len(source), 1)):
        return None
    try:
        found = _Finder(grammar).in_children(root, _file_namespace(root), 0)
    except TooDeepError:
        return None
    return _apart(found, 1, text.count("\n") + 1)


def _parsed(source: bytes, grammar: Grammar) -> "Node | None":
    """The root of the syntax tree; None where parsing takes too long."""
    from tree_sitter import Parser  # noqa: PLC0415  # a repository of Python alone does not need it

    until = time.thread_time() + MAX_SECONDS
    try:
        tree = Parser(grammar.language()).parse(
            lambda at, _point: source[at : at + _SLICE],
            progress_callback=lambda _at, _broken: time.thread_time() > until,
        )
    except ValueError:  # what the library raises for a parse that was stopped
        return None
    return tree.root_node if tree else None


def _broken_bytes(root: "Node") -> int:
    """Bytes in nodes that could not be parsed."""
    broken, left = 0, [root]
    while left:
        node = left.pop()
        if node.is_error:
            broken += node.end_byte - node.start_byte
        elif node.has_error:
            left += node.children
    return broken


def _file_namespace(root: "Node") -> str:
    """The namespace that a C# file declares for all of it."""
    for child in root.children:
        if child.type == "file_scoped_namespace_declaration":
            return _dotted(child.child_by_field_name("name"))
    return ""


class _Finder:
    """Walks a syntax tree for the definitions of one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def in_children(self, parent: "Node", above: str, depth: int) -> list[SymbolDefinition]:
        """The definitions among the children of a node; comments and attributes right above one belong to it."""
        if depth > MAX_DEPTH:
            raise TooDeepError
        found: list[SymbolDefinition] = []
        first, last = 0, -2  # rows of the comments and attributes since the last other node
        for child in parent.named_children:
            row = child.start_point.row
            adjacent = last + 1 >= row
            if child.type in self._grammar.leading:
                first, last = (first if adjacent else row), _last_row(child)
                continue
            here = self._of_node(child, above, depth)
            if here and adjacent:
                here[0] = replace(here[0], start=min(here[0].start, first + 1))
            last = -2
            found += here
        return found

    def _of_node(self, node: "Node", above: str, depth: int) -> list[SymbolDefinition]:
        kind, grammar = node.type, self._grammar
        if kind in _ASSIGNED:
            found = self._of_assignment(node, above, depth)
        elif kind in grammar.outer:
            found = self.in_children(node, above, depth + 1)
            found = [_widened(found[0], node)] if len(found) == 1 else found
        elif kind in grammar.wrappers:
            found = self.in_children(node.child_by_field_name("body") or node, above, depth + 1)
        elif kind in grammar.leaves | grammar.types | grammar.scopes:
            found = self._of_definition(node, above, depth)
        else:
            found = []
        return found

    def _of_definition(self, node: "Node", above: str, depth: int) -> list[SymbolDefinition]:
        """A definition that says its own name, or what is in it where it has no name."""
        kind, body = node.type, node.child_by_field_name("body")
        if kind == "property_declaration" and node.start_point.row == node.end_point.row:
            return []
        name = _name_of(node)
        if not name and kind in _VALUES and node.parent is not None and node.parent.type == "export_statement":
            name = "default"
        is_mention = kind.endswith("_specifier") and body is None  # `struct Cart cart;`
        if name and not is_mention:
            return [self._definition(node, f"{above}.{name}" if above else name, body, depth)]
        return [] if kind in self._grammar.leaves else self.in_children(body or node, above, depth + 1)

    def _definition(self, node: "Node", name: str, body: "Node | None", depth: int) -> SymbolDefinition:
        """The definition of a node; a function has no parts."""
        start, end = node.start_point.row + 1, _last_row(node) + 1
        scope, holds = node.type in self._grammar.scopes, node.type not in self._grammar.leaves
        inner = self.in_children(body or node, name, depth + 1) if holds else ()
        return SymbolDefinition(name, start, end, _apart(inner, start, end), scope)

    def _of_assignment(self, node: "Node", above: str, depth: int) -> list[SymbolDefinition]:
        """A function, class or object that is given a name by an assignment."""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        named = next(filter(None, map(node.child_by_field_name, ("name", "property", "key", "left"))), None)
        if value is None or named is None:
            return []
        value, own = _wrapped_function(value), _clean(_PREFIXES.sub("", _text(named)))
        name = f"{above}.{own}" if above else own
        is_named_block = node.type == "assignment"  # Ruby: `Point = Struct.new(:x) do ... end`
        inner: list[SymbolDefinition] = []
        if is_named_block or value.type in ("class", "object"):
            inner = self.in_children(value.child_by_field_name("body") or value, name, depth + 1)
        if inner or value.type in _FUNCTIONS | {"class"}:
            start, end = node.start_point.row + 1, _last_row(node) + 1
            return [SymbolDefinition(name, start, end, _apart(inner, start, end))]
        return []


def _wrapped_function(value: "Node") -> "Node":
    """The function that a call such as `memo(...)` is given, or the value itself."""
    for _ in range(3):
        given = value.child_by_field_name("arguments") if value.type == "call_expression" else None
        inside = (
            [child for child in given.named_children if child.type in (*_FUNCTIONS, "call_expression")] if given else []
        )
        if not inside:
            break
        value = inside[0]
    return value


def _widened(definition: SymbolDefinition, node: "Node") -> SymbolDefinition:
    """The definition with the lines of the node around it."""
    start, end = node.start_point.row + 1, _last_row(node) + 1
    return replace(definition, start=min(definition.start, start), end=max(definition.end, end))


def _last_row(node: "Node") -> int:
    """The last row with text of the node; some end with the line break."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row


def _apart(found: Iterable[SymbolDefinition], start: int, end: int) -> tuple[SymbolDefinition, ...]:
    """The definitions within the lines `start` to `end`, sorted; one that begins on a line of the one before it begins
    on the next line, or is left out where nothing remains of it."""
    kept: list[SymbolDefinition] = []
    for one in sorted(found, key=lambda each: (each.start, each.end)):
        first = max(one.start, kept[-1].end + 1 if kept else start)
        last = min(one.end, end)
        if first <= last:
            inner = one.inner if first == one.start else _apart(one.inner, first, last)
            kept.append(replace(one, start=first, end=last, inner=inner))
    return tuple(kept)


def _name_of(node: "Node") -> str:
    """The name of a definition below its parent's; empty where it has none."""
    named = node.child_by_field_name("name")
    receiver = node.child_by_field_name("receiver")
    match node.type:
        case "impl_item":
            name = _type_name(node.child_by_field_name("type"))
        case "method_declaration" if receiver is not None:
            owner = next((_text(child) for child in _below(receiver) if child.type == "type_identifier"), "")
            name = f"{owner}.{_dotted(named)}"
        case "destructor_declaration":
            name = f"~{_dotted(named)}"
        case "operator_declaration":
            name = "operator" + _text(node.child_by_field_name("operator"))
        case "conversion_operator_declaration":
            name = "operator." + _clean(_text(node.child_by_field_name("type")))
        case "indexer_declaration":
            name = "this"
        case _:
            name = _declared(node.child_by_field_name("declarator")) if named is None else _dotted(named)
    return name


def _declared(node: "Node | None") -> str:
    """The name in a declarator of C or C++."""
    while node is not None:
        if node.type in ("qualified_identifier", "identifier", "field_identifier", "type_identifier") or (
            node.type.startswith(("destructor_name", "operator_", "template_"))
        ):
            return _dotted(node)
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None else next(iter(node.named_children), None)
    return ""


def _type_name(node: "Node | None") -> str:
    """The last name of a Rust type, without what it is generic over."""
    while node is not None and node.child_count:
        inner = node.child_by_field_name("type") or node.child_by_field_name("name")
        node = inner if inner is not None else next(iter(node.named_children), None)
    return _clean(_text(node))


def _dotted(node: "Node | None") -> str:
    """A name, with dots between its parts and without type parameters."""
    if node is None:
        return ""
    if node.type == "operator_cast":
        return "operator." + _clean(_text(node.child_by_field_name("type")))
    if node.type == "qualified_identifier":
        parts = [_dotted(node.child_by_field_name(part)) for part in ("scope", "name")]
        return ".".join(filter(None, parts))
    if node.type == "operator_name":
        return "".join(_text(node).split())
    if node.type in ("template_type", "template_function", "template_method"):
        return _dotted(node.child_by_field_name("name"))
    return _clean(_text(node))


def _clean(text: str) -> str:
    return "".join(_GENERIC.sub("", text).replace("::", ".").split()).strip(".'\"`") if text else ""


def _text(node: "Node | None") -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def _below(node: "Node") -> Iterator["Node"]:
    """The node and everything in it, from the top."""
    left = [node]
    while left:
        yield (one := left.pop())
        left += reversed(one.children)
