"""`!include path` on a line of its own: the text of another file, before any markup is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quillmark import frontmatter
from quillmark.errors import IncludeError

_LINE = re.compile(r"!include[ ]+(?P<path>\S+)[ ]*")
_FENCE = re.compile(r"(`{3,}|~{3,})")


@dataclass(frozen=True)
class Expanded:
    """A text without includes, and every file it was put together from besides its own."""

    text: str
    files: tuple[Path, ...] = ()


class Includer:
    """Reads files below `root` and nowhere else; each is read once per build."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._bodies: dict[Path, tuple[str, int]] = {}

    def expand(self, text: str, origin: Path, first_line: int = 1) -> Expanded:
        """`text`, which begins on a line of file `origin`, with everything included. Raises IncludeError."""
        return self._expand(text, origin.resolve(), first_line, ())

    def _expand(self, text: str, origin: Path, first_line: int, trail: tuple[Path, ...]) -> Expanded:
        lines: list[str] = []
        files: list[Path] = []
        for number, line, in_code in _lines(text, first_line):
            match = None if in_code else _LINE.fullmatch(line)
            if match is None:
                lines.append(line)
                continue
            target = self._resolve(match["path"], origin, number)
            if target == origin or target in trail:
                raise IncludeError(f"{match['path']} includes itself", self._name(origin), number)
            body, begins = self._read(target, origin, number)
            part = self._expand(body, target, begins, (*trail, origin))
            lines.append(part.text)
            files += [target, *part.files]
        return Expanded("\n".join(lines), tuple(dict.fromkeys(files)))

    def _resolve(self, name: str, origin: Path, line: int) -> Path:
        """A path from the content folder if it begins with a slash, else from the folder of `origin`."""
        start = self._root if name.startswith("/") else origin.parent
        target = (start / name.lstrip("/")).resolve()
        if not target.is_relative_to(self._root):
            raise IncludeError(f"{name} lies outside the content folder", self._name(origin), line)
        return target

    def _read(self, target: Path, origin: Path, line: int) -> tuple[str, int]:
        if target not in self._bodies:
            try:
                text = target.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise IncludeError(f"cannot include {self._name(target)}: {error}", self._name(origin), line) from error
            _, body, begins = frontmatter.split(text, self._name(target))
            self._bodies[target] = body.rstrip("\n"), begins
        return self._bodies[target]

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.name


def _lines(text: str, first_line: int) -> Iterator[tuple[int, str, bool]]:
    """Number, text, and whether it stands in a code block, for each line."""
    fence = ""
    for number, line in enumerate(text.split("\n"), first_line):
        mark = _FENCE.match(line.strip())
        yield number, line, bool(fence)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
