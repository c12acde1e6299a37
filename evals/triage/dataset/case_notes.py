"""Notes of people beside cases, and pages of the offline web."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import Field

from evals.errors import DatasetError
from evals.models.base import Closed
from evals.safe_yaml import parse_model, read_model, read_text
from evals.triage.dataset.dataset_layout import Layout

_HEAD: Final = "# What people said of trials of this case; `evals langsmith pull --queue` adds to it, drops nothing.\n"


class Note(Closed):
    """One piece of feedback. `id` is its own there, `run` that of the run it is about; `at` is when it last changed
    (ISO, UTC)."""

    id: str
    at: str
    queue: str
    run: str
    variant: str = ""
    key: str
    score: float | bool | None = None
    value: Any = None
    comment: str = ""
    correction: Any = None


class Notes(Closed):
    """The file of one case, oldest first."""

    notes: tuple[Note, ...] = ()


def read_notes(path: Path) -> tuple[Note, ...]:
    """What is there; nothing where there is no file. Raises DatasetError (`path:line: …`)."""
    return read_model(path, Notes).notes if path.exists() else ()


def add_notes(path: Path, found: Iterable[Note]) -> int:
    """Add what is new, put what has changed in place of what it was, keep the rest; returns how many those were.

    Raises:
        DatasetError: the file there cannot be read; it is left as it is.
    """
    there = {note.id: note for note in read_notes(path)}
    new = {note.id: note for note in found if there.get(note.id) != note}
    if new:
        notes = sorted({**there, **new}.values(), key=lambda note: (note.at, note.id))
        told = Notes(notes=tuple(notes)).model_dump(mode="json", exclude_defaults=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}.tmp")
        scratch.write_text(_HEAD + yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=120), "utf-8")
        scratch.replace(path)
    return len(new)


FENCE: Final = "---"


class PageFrontMatter(Closed):
    """What a page says about itself. `only_for` names the cases that can find it; without it, all can.

    A page that carries an injection, or the diagnosis of an open issue, would spoil every other case that met it.
    """

    url: Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")]
    title: str
    published: str
    only_for: tuple[str, ...] = ()


class WebPage(Closed):
    """One page of the offline web."""

    about: PageFrontMatter
    body: str


def load_pages(root: Path) -> list[WebPage]:
    """All pages of the dataset in folder `root`, by file name; none in an empty folder, as an import leaves it.

    Raises DatasetError (`path:line: …`): a page is wrong, or there is no folder at all.
    """
    web = Layout(root).web
    if not web.is_dir():
        raise DatasetError(f"{web}: is missing; the offline web is a folder of pages, empty where none are known")
    return [read_page(path) for path in sorted(web.glob("*.md"))]


def read_page(path: Path) -> WebPage:
    """One page: front matter between two `---` lines, then the body."""
    text = read_text(path)
    parts = text.split(f"{FENCE}\n", 2)
    if len(parts) != 3 or parts[0]:
        raise DatasetError(f"{path}:1: must start with front matter (url, title, published) between two {FENCE} lines")
    return WebPage(about=parse_model(path, "\n" + parts[1], PageFrontMatter), body=parts[2].strip())
