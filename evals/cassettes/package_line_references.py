"""Lines of a released package stored by reference, and code copied from one, so that none stands in a cassette."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from evals.cassettes.request_key import parse_json
from evals.errors import NotFetchedError

MEMBER: Final = "x_released"
TELLING: Final = 10
"""Characters (blanks around left out) from which on a line is looked for; shorter ones are found beside such."""
ALONE: Final = 20
"""Characters from which on a single line is somebody's."""
LONG: Final = 900
"""Characters from which on a line may have been cut to fit a chunk."""
_LOOKED_AT: Final = 200  # places of a line that stands in many
_REFERENCE: Final = re.compile(r"⟦([^⟦⟧\n]+):(\d+)-(\d+)(?:\+(\d+))? ([0-9a-f]{16})⟧")
Place = tuple[str, int]
"""A file and the index of a line in it."""


class LineRange(NamedTuple):
    """Lines of a text, `first` to `end` (excluded), that stand in a file from `start` on."""

    first: int
    end: int
    path: str
    start: int
    clipped: int | None = None


class SourceTree:
    """The files of a fetched release, by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._folded: dict[str, str] = {}
        self._whole: dict[str, str] = {}

    @cached_property
    def lines(self) -> Mapping[str, tuple[str, ...]]:
        """Path -> lines, as a search reads them."""
        found = {}
        for path in sorted(self.folder.rglob("*.py")):
            text = path.read_bytes().decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")
            found[path.relative_to(self.folder).as_posix()] = tuple(text.split("\n"))
        return found

    def folded(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """The same JSON with references in the place of the tree's lines."""
        return _each(value, self._fold)

    def unfolded(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """The JSON that was folded. Raises LookupError, with the cause, for a reference that leads nowhere."""
        return _each(value, self._unfold)

    def _fold(self, text: str) -> str:
        if text not in self._folded:
            lines = text.split("\n")
            said: list[str] = []
            at = 0
            for run in self.runs(lines):
                said += [*lines[at : run.first], self._reference(run)]
                at = run.end
            folded = "\n".join([*said, *lines[at:]])
            if self._unfold(folded) != text:
                raise LookupError("a text spells a reference that nobody made")
            self._folded[text] = folded
        return self._folded[text]

    def runs(self, lines: list[str]) -> Iterator[LineRange]:
        """The longest runs of the tree's lines, from the top; where two are as long, the first by path and line."""
        at = 0
        here = 0
        while here < len(lines):
            found = max((self._around(lines, place, here, at) for place in self._places(lines[here])), default=None,
                        key=lambda run: (run.end - run.first, -run.start))  # fmt: skip
            if found is not None and _is_somebodys(lines[found.first : found.end]):
                yield found
                at = here = found.end
            else:
                here += 1

    def _places(self, line: str) -> list[Place]:
        if len(line.strip()) < TELLING:
            return []
        if len(line) >= LONG and line not in self._where:
            return self._long.get(line[:LONG], [])[:_LOOKED_AT]
        return self._where.get(line, [])[:_LOOKED_AT]

    def _around(self, lines: list[str], place: Place, here: int, least: int) -> LineRange:
        path, at = place
        theirs = self.lines[path]
        if lines[here] != theirs[at]:
            clipped = len(lines[here]) if theirs[at].startswith(lines[here]) else 0
            return LineRange(here, here + bool(clipped), path, at, clipped)
        first, start = here, at
        while first > least and start > 0 and lines[first - 1] == theirs[start - 1]:
            first, start = first - 1, start - 1
        end = here
        while end < len(lines) and at + end - here < len(theirs) and lines[end] == theirs[at + end - here]:
            end += 1
        return LineRange(first, end, path, start)

    def _reference(self, run: LineRange) -> str:
        last = run.start + run.end - run.first
        cut = f"+{run.clipped}" if run.clipped else ""
        return f"⟦{run.path}:{run.start + 1}-{last}{cut} {_digest(self._text(run.path, run.start, last, run.clipped))}⟧"

    def _text(self, path: str, start: int, end: int, clipped: int | None) -> str:
        return "\n".join(self.lines[path][start:end])[:clipped]

    def _unfold(self, text: str) -> str:
        if "⟦" not in text:
            return text
        if text not in self._whole:
            self._whole[text] = "\n".join(map(self._resolved, text.split("\n")))
        return self._whole[text]

    def _resolved(self, line: str) -> str:
        found = _REFERENCE.fullmatch(line)
        if found is None:
            return line
        path, first, last, clipped, digest = found.groups()
        if path not in self.lines:
            raise LookupError(f"{self.folder.name} holds no {path}")
        text = self._text(path, int(first) - 1, int(last), int(clipped) if clipped else None)
        if _digest(text) != digest:
            raise LookupError(f"{path}:{first}-{last} of {self.folder.name} is not what was recorded")
        return text

    @cached_property
    def _where(self) -> Mapping[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for path, lines in self.lines.items():
            for at, line in enumerate(lines):
                if len(line.strip()) >= TELLING:
                    found.setdefault(line, []).append((path, at))
        return found

    @cached_property
    def _long(self) -> Mapping[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for line, places in self._where.items():
            if len(line) >= LONG:
                found.setdefault(line[:LONG], []).extend(places)
        return found

    @cached_property
    def telling(self) -> Mapping[str, tuple[str, ...]]:
        """Path -> the lines that say something, without the blanks around them."""
        return {path: telling_lines("\n".join(lines)) for path, lines in self.lines.items()}


def telling_lines(text: str) -> tuple[str, ...]:
    """The lines of a text that say something, without the blanks around them."""
    return tuple(line for line in map(str.strip, text.split("\n")) if len(line) >= TELLING)


def tree_for(path: Path, name: str) -> SourceTree:
    """The tree of that name, for the cassette at `path`. Raises NotFetchedError."""
    above = [Path(path).absolute().parent, *Path(path).absolute().parents, Path.cwd()]
    for folder in above:
        tree = folder / ".cache" / "codebases" / name
        if tree.is_dir():
            return _tree_at(tree, tree.stat().st_mtime_ns)
    raise NotFetchedError(
        f"{path}: rests on the released package {name}, which is not here; run `evals dataset fetch --dataset released`"
    )


@lru_cache(8)
def _tree_at(folder: Path, _written: int) -> SourceTree:
    return SourceTree(folder)


def _each(value: Any, change: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each(member, change) for name, member in value.items()}
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    return value


def _is_somebodys(lines: list[str]) -> bool:
    telling = [len(line.strip()) for line in lines if len(line.strip()) >= TELLING]
    return len(telling) > 1 or max(telling, default=0) >= ALONE


@cache
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


ROW: Final = 6
"""Telling lines in a row that make a copy; blanks around a line, and lines that say nothing, do not count."""


def quoted(value: Any, tree: SourceTree, row: int = ROW) -> str | None:  # noqa: ANN401 - JSON
    """The file that a text somewhere in this JSON copies `row` lines of; None if there is none."""
    rows = _rows(tree, row)
    for text in _texts(value):
        lines = telling_lines(text)
        for at in range(len(lines) - row + 1):
            if found := rows.get(lines[at : at + row]):
                return found
    return None


@lru_cache(16)
def _rows(tree: SourceTree, row: int) -> Mapping[tuple[str, ...], str]:
    return {
        lines[at : at + row]: path for path, lines in tree.telling.items() for at in range(len(lines) - row + 1)
    }  # fmt: skip


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Every text in it; one that is JSON itself, as a structured answer is, is looked into."""
    if isinstance(value, str):
        try:
            inner = parse_json(value) if value[:1] in {"{", "["} else None
        except ValueError:
            inner = None
        if inner is None:
            yield value
        else:
            yield from _texts(inner)
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
