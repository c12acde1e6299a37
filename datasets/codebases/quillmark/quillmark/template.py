"""The language of layouts: `{{ value | filter }}`, `{% if %}`, `{% for %}`, `{% include %}`.

Values are escaped on the way out unless they are Safe. Text the author of a layout wrote as a literal is Safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from quillmark.errors import TemplateError
from quillmark.escape import Safe, escape

_PIECE = re.compile(r"(?P<comment>\{#.*?#\})|\{\{(?P<value>.*?)\}\}|\{%(?P<tag>.*?)%\}", re.DOTALL)
_TOKEN = re.compile(r"\s*(?:(?P<text>\"[^\"]*\"|'[^']*')|(?P<number>\d+)|(?P<name>[A-Za-z_][\w.]*)|(?P<sign>==|!=|[|(),]))")
_FOR = re.compile(r"for\s+(?P<name>[A-Za-z_]\w*)\s+in\s+(?P<value>.+)", re.DOTALL)
_CONSTANTS = {"true": True, "false": False, "none": None}
_MAX_INCLUDES = 20

Context = Mapping[str, Any]
Filters = Mapping[str, Callable[..., Any]]
Evaluate = Callable[[Context], Any]


class Node(Protocol):
    """A piece of a compiled layout."""

    def render(self, context: Context) -> str: ...


@dataclass(frozen=True)
class _Literal:
    text: str

    def render(self, context: Context) -> str:
        return self.text


@dataclass(frozen=True)
class _Output:
    value: Evaluate

    def render(self, context: Context) -> str:
        found = self.value(context)
        return "" if found is None else escape(found)


@dataclass(frozen=True)
class _If:
    branches: Sequence[tuple[Evaluate, Sequence[Node]]]

    def render(self, context: Context) -> str:
        chosen = next((body for condition, body in self.branches if condition(context)), ())
        return "".join(node.render(context) for node in chosen)


@dataclass(frozen=True)
class _For:
    name: str
    values: Evaluate
    body: Sequence[Node]

    def render(self, context: Context) -> str:
        items = list(self.values(context) or ())
        parts = []
        for index, item in enumerate(items):
            loop = {"index": index + 1, "first": index == 0, "last": index == len(items) - 1}
            inner = {**context, self.name: item, "loop": loop}
            parts += [node.render(inner) for node in self.body]
        return "".join(parts)


@dataclass(frozen=True)
class _Include:
    layouts: Layouts
    name: str

    def render(self, context: Context) -> str:
        depth = context.get("_depth", 0) + 1
        if depth > _MAX_INCLUDES:
            raise TemplateError("includes itself", self.name)
        return self.layouts.get(self.name).render({**context, "_depth": depth})


@dataclass(frozen=True)
class Template:
    """A compiled layout."""

    name: str
    nodes: Sequence[Node]

    def render(self, context: Context) -> str:
        """The layout filled with `context`. Raises TemplateError."""
        return "".join(node.render(context) for node in self.nodes)


class Layouts:
    """The layouts in a folder, compiled on first use."""

    def __init__(self, folder: Path, filters: Filters, builtin: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._filters = filters
        self._builtin = builtin or {}
        self._compiled: dict[str, Template] = {}

    def get(self, name: str) -> Template:
        """The layout `name` (a file name in the folder). Raises TemplateError."""
        if name not in self._compiled:
            self._compiled[name] = _Compiler(name, self._source(name), self._filters, self).compile()
        return self._compiled[name]

    def _source(self, name: str) -> str:
        path = self._folder / name
        if path.is_file() and path.parent == self._folder:
            return path.read_text(encoding="utf-8")
        if name in self._builtin:
            return self._builtin[name]
        raise TemplateError("there is no such layout", name)


class _Compiler:
    def __init__(self, name: str, source: str, filters: Filters, layouts: Layouts) -> None:
        self._name = name
        self._source = source
        self._filters = filters
        self._layouts = layouts
        self._pieces = list(_PIECE.finditer(source))
        self._at = 0
        self._line = 1

    def compile(self) -> Template:
        nodes, stop = self._body(0)
        if stop:
            raise self._fault(f"`{stop}` closes nothing")
        return Template(self._name, nodes)

    def _body(self, start: int, *stops: str) -> tuple[list[Node], str]:
        """Nodes from offset `start` up to a tag that begins with one of `stops`, and that tag."""
        nodes: list[Node] = []
        position = start
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            self._at += 1
            self._line = self._source.count("\n", 0, piece.start()) + 1
            nodes.append(_Literal(self._source[position : piece.start()]))
            position = piece.end()
            if piece["value"] is not None:
                nodes.append(_Output(self._expression(piece["value"])))
            elif piece["tag"] is not None:
                tag = piece["tag"].strip()
                if tag.split(" ")[0] in (*stops, "endif", "endfor", "else", "elif"):
                    return nodes, tag
                nodes.append(self._tag(tag, position))
                position = self._pieces[self._at - 1].end()
        if stops:
            raise self._fault(f"`{stops[-1]}` is missing")
        nodes.append(_Literal(self._source[position:]))
        return nodes, ""

    def _tag(self, tag: str, position: int) -> Node:
        if tag.startswith("if "):
            return self._if(tag[3:], position)
        if loop := _FOR.fullmatch(tag):
            values = self._expression(loop["value"])
            body, stop = self._body(position, "endfor")
            if stop != "endfor":
                raise self._fault(f"`{stop}` inside a for; expected `endfor`")
            return _For(loop["name"], values, body)
        if tag.startswith("include "):
            return _Include(self._layouts, tag[8:].strip().strip("\"'"))
        raise self._fault(f"unknown tag `{tag}`")

    def _if(self, condition: str, position: int) -> Node:
        branches: list[tuple[Evaluate, Sequence[Node]]] = []
        test: Evaluate | None = self._expression(condition)
        while test is not None:
            body, stop = self._body(position, "elif", "else", "endif")
            branches.append((test, body))
            position = self._pieces[self._at - 1].end()
            test = self._expression(stop[5:]) if stop.startswith("elif ") else None
        if stop == "else":
            body, stop = self._body(position, "endif")
            branches.append((lambda context: True, body))
        if stop != "endif":
            raise self._fault(f"`{stop}` inside an if; expected `endif`")
        return _If(branches)

    def _expression(self, source: str) -> Evaluate:
        return _Expression(source, self._filters, self._fault).parse()

    def _fault(self, message: str) -> TemplateError:
        return TemplateError(message, self._name, self._line)


class _Expression:
    """`[not] operand [== operand]`, where an operand is a name or literal with filters."""

    def __init__(self, source: str, filters: Filters, fault: Callable[[str], TemplateError]) -> None:
        self._filters = filters
        self._fault = fault
        self._tokens = self._split(source.strip())
        self._at = 0

    def parse(self) -> Evaluate:
        negated = self._take("not")
        left = self._operand()
        if self._take("=="):
            left = _compare(left, self._operand(), wanted=True)
        elif self._take("!="):
            left = _compare(left, self._operand(), wanted=False)
        if self._at < len(self._tokens):
            raise self._fault(f"unexpected {self._tokens[self._at][1]!r}")
        return (lambda context: not left(context)) if negated else left

    def _operand(self) -> Evaluate:
        value = self._atom()
        while self._take("|"):
            value = self._filtered(value)
        return value

    def _filtered(self, value: Evaluate) -> Evaluate:
        kind, name = self._next()
        function = self._filters.get(name)
        if kind != "name" or function is None:
            raise self._fault(f"unknown filter {name!r}")
        arguments: list[Evaluate] = []
        if self._take("("):
            while not self._take(")"):
                arguments.append(self._atom())
                self._take(",")
        return lambda context: function(value(context), *(argument(context) for argument in arguments))

    def _atom(self) -> Evaluate:
        kind, text = self._next()
        if kind == "text":
            literal = Safe(text[1:-1])
            return lambda context: literal
        if kind == "number":
            return lambda context: int(text)
        if kind != "name":
            raise self._fault(f"unexpected {text!r}")
        if text in _CONSTANTS:
            return lambda context: _CONSTANTS[text]
        return lambda context: _lookup(context, text.split("."))

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise self._fault("the expression ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, text: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at][1] == text
        self._at += found
        return found

    def _split(self, source: str) -> list[tuple[str, str]]:
        tokens, position = [], 0
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                raise self._fault(f"cannot read {source[position:]!r}")
            assert match.lastgroup is not None
            tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()
        return tokens


def _compare(left: Evaluate, right: Evaluate, wanted: bool) -> Evaluate:
    return lambda context: (left(context) == right(context)) is wanted


def _lookup(context: Context, names: Sequence[str]) -> Any:
    """`a.b.c` through mappings and public attributes; what does not exist is None."""
    value: Any = context
    for name in names:
        if name.startswith("_"):
            return None
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if value is None:
            return None
    return value
