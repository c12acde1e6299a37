"""A cassette's YAML as plain data, read by libyaml's safe loader and one tag more: a tuple, for bodies in pieces.

Stock vcrpy's own safe loader knows the same tag. What it makes here is no tuple, so that it passes for a value nowhere
but where `unfold` looks for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from evals.errors import CassetteError
from evals.uncollected import uncollected
from evals.yaml_bounds import beyond_bounds

TUPLE: Final = "tag:yaml.org,2002:python/tuple"


@dataclass(frozen=True)
class InPieces:
    """A text said in pieces, in their order; the file may have put anything in their place."""

    pieces: tuple[object, ...]


def plain(text: str, path: Path) -> dict[str, Any]:
    """The file's YAML as mappings, lists, scalars and `InPieces`, whatever its schema. Raises CassetteError."""
    if too_far := beyond_bounds(text, aliases=False):
        raise CassetteError(path, f"{too_far[1]}: not written by a recorder; restore the file", too_far[0])
    try:
        with uncollected():
            data = yaml.load(text, Loader=_Loader)  # noqa: S506 - the safe loader, and a tuple
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "a character that no text holds"
        message = f"not YAML, truncated or joined by hand ({problem}); restore the file"
        raise CassetteError(path, message, _line_of_fault(error, text)) from None
    if not isinstance(data, dict):
        raise CassetteError(path, "not a cassette: the top level is no mapping (an empty file?)", 1)
    return data


def line_of(text: str, location: Sequence[int | str]) -> int:
    """The 1-based line of the deepest node on the way to `location`, as in `("interactions", 3, "request")`."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    line = 1
    for step in location:
        below = _child(node, step)
        if below is None:
            break
        node = below
        line = int(node.start_mark.line) + 1
    return line


def _child(node: yaml.Node | None, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    return None


def _line_of_fault(error: yaml.YAMLError, text: str) -> int:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    return text.count("\n", 0, getattr(error, "position", 0)) + 1  # a ReaderError counts characters


class _Loader(yaml.CSafeLoader):
    """Safe, able to read a body in pieces, and unwilling to let the last of two equal keys win without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(found) < len(node.value):  # cheap: this is asked of every mapping of every cassette
            names = [key.value for key, _ in node.value]
            double = next(key for at, (key, _) in enumerate(node.value) if key.value in names[:at])
            raise yaml.MarkedYAMLError(None, None, f"the key {double.value!r} stands here twice", double.start_mark)
        return found


def _in_pieces(loader: yaml.CSafeLoader, node: yaml.SequenceNode) -> InPieces:
    return InPieces(tuple(loader.construct_sequence(node)))


_Loader.add_constructor(TUPLE, _in_pieces)
