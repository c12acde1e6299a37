"""Pages of the offline web."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from evals.errors import DatasetError
from evals.models.base import Closed
from evals.safe_yaml import parse_model, read_text
from evals.triage.dataset.dataset_layout import Layout

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
