"""Parts of pages: tables, case lists, shared texts, links in sentences, and the sections that a pack adds."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar

from markupsafe import Markup

from evals.application_pack import load_pack
from evals.errors import ConfigurationError
from evals.models.run import Run
from evals.shared.display_text import visible

if TYPE_CHECKING:
    from evals.application_pack import Pack

Member = TypeVar("Member")


@dataclass(frozen=True)
class Table:
    """As many cells per row as there are headings."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def without_empty(table: Table, *, rows: bool = True) -> Table:
    """The table without columns that say nothing in any row (n/a, 0), and without such rows if `rows`."""
    told = [i for i in range(len(table.head)) if i == 0 or any(_says_something(row[i]) for row in table.rows)]
    return Table(
        table.caption,
        tuple(table.head[i] for i in told),
        tuple(tuple(row[i] for i in told) for row in table.rows if not rows or any(map(_says_something, row[1:]))),
    )


def _says_something(cell: str) -> bool:
    return cell.partition(" ")[0].rstrip(":") not in ("", "n/a", "0")


@dataclass(frozen=True)
class ListLink:
    """A text and the number of the list behind it; empty where there is nothing to list."""

    text: str
    list: str


class Lists:
    """A pool of lists. `link` takes the cases a text counts and gives the link to them."""

    def __init__(self, case_ids: Sequence[str]) -> None:
        self._places = {case_id: place for place, case_id in enumerate(case_ids)}
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}

    def link(self, text: str, title: str, case_ids: Iterable[str]) -> ListLink:
        """The link to the rows of these cases; `title` says above them what they are. Cases that are not in the run are
        left out."""
        places = tuple(sorted({self._places[case_id] for case_id in case_ids if case_id in self._places}))
        if not places:
            return ListLink(text, "")
        return ListLink(text, str(self._numbers.setdefault((visible(title), places), len(self._numbers))))

    def steps(self) -> list[tuple[str, tuple[int, ...]]]:
        """The pool with each place as its distance from the one before, the first from 0: small numbers, since a list
        may hold most of a thousand cases."""
        return [
            (title, tuple(place - before for before, place in pairwise((0, *places)))) for title, places in self.pool()
        ]

    def pool(self) -> list[tuple[str, tuple[int, ...]]]:
        """Title and places in the order of the run's cases, in order of their numbers."""
        return list(self._numbers)


class Number(str):
    """The number of a text, as the page writes it: no word of the page, though it looks like one."""

    __slots__ = ()


class Pool(Generic[Member]):
    """Things that the page shows more than once. `add` gives the number by which it finds one; equal ones share it."""

    kind: type[str] = str

    def __init__(self) -> None:
        self._numbers: dict[Member, str] = {}

    def add(self, member: Member) -> str:
        """The number of the member."""
        return self._numbers.setdefault(member, self.kind(len(self._numbers)))

    def all(self) -> tuple[Member, ...]:
        """The members in order of their numbers."""
        return tuple(self._numbers)


class Texts(Pool[str]):
    """Long texts."""

    kind = Number


_CODE: Final = re.compile(r"`([^`]+)`")
_WORD: Final = re.compile(r"([\w.-]*\w)")
"""A case's id is one word: letters, digits, dots and hyphens, with no mark of the sentence at its end."""


@dataclass(frozen=True)
class Piece:
    """A part of a sentence: the id of a case, code (which stood between backticks), or plain text."""

    text: str
    kind: Literal["text", "case", "code"]


def pieces(sentence: str, case_ids: Collection[str] = ()) -> tuple[Piece, ...]:
    """The sentence, cut at the ids it names and at the code in it; joined they are the sentence without the backticks
    around code."""
    found: list[Piece] = []
    for number, stretch in enumerate(_CODE.split(sentence)):
        if number % 2:
            found.append(Piece(stretch, "code"))
            continue
        for part in filter(None, _WORD.split(stretch)):
            if part in case_ids:
                found.append(Piece(part, "case"))
            elif found and found[-1].kind == "text":
                found[-1] = Piece(found[-1].text + part, "text")
            else:
                found.append(Piece(part, "text"))
    return tuple(found)


Place = Literal["numbers", "decisions", "prompts"]
"""At the end of the numbers of terminal and summary, or after the tables of that name."""


@dataclass(frozen=True)
class Section:
    """A section of a pack. `title` is what opens it on the page; `html` draws it from templates that escape, and is
    empty where there is nothing to show; `tables` are those that terminal and summary show at their `place`."""

    anchor: str
    title: str
    place: Place
    html: Callable[[Run], Markup]
    tables: Callable[[Run], tuple[Table, ...]] = lambda _: ()


@cache
def sections(pack: "Pack | None" = None) -> tuple[Section, ...]:
    """The sections of a pack (of the default one if none is given), in order.

    Raises:
        ConfigurationError: a module has no `SECTIONS`.
    """
    found: list[Section] = []
    for name in (pack or load_pack()).report_sections:
        try:
            found += import_module(name).SECTIONS
        except (ImportError, AttributeError) as error:
            raise ConfigurationError(f"sections of the pack: {error}; {name} needs a tuple SECTIONS") from error
    return tuple(found)


def drawn_sections(run: Run, pack: "Pack | None" = None) -> tuple[tuple[str, str, Markup], ...]:
    """Anchor, title and markup of the sections of a run that have anything to show."""
    return tuple((each.anchor, each.title, html) for each in sections(pack) if (html := each.html(run)).strip())


def section_tables(run: Run, place: Place, pack: "Pack | None" = None) -> tuple[Table, ...]:
    """The tables of the sections at a place that have rows."""
    mine = (each for each in sections(pack) if each.place == place)
    return tuple(table for each in mine for table in each.tables(run) if table.rows)
