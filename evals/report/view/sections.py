"""Sections of the report that a pack adds, and where they stand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from evals.application_pack import load_pack
from evals.errors import ConfigurationError
from evals.models.run import Run
from evals.report.view.page_parts import Table

if TYPE_CHECKING:
    from evals.application_pack import Pack

Place = Literal["numbers", "decisions", "prompts"]
"""At the end of the numbers of terminal and summary, or after the tables of that name."""


def _no_tables(run: Run) -> tuple[Table, ...]:  # noqa: ARG001 - as a section's function takes it
    return ()


@dataclass(frozen=True)
class Section:
    """A section of a pack. `title` is what opens it on the page; `html` draws it from templates that escape, and is
    empty where there is nothing to show; `tables` are those that terminal and summary show at their `place`."""

    anchor: str
    title: str
    place: Place
    html: Callable[[Run], Markup]
    tables: Callable[[Run], tuple[Table, ...]] = _no_tables


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
