"""Each page of docs/decisions begins with the same header: title, date, status, and what superseded it."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "README.md")
HEADER = re.compile(
    r"# (?P<number>\d{4}): \S.*\n\n"
    r"- Date: \d{4}-\d{2}-\d{2}\n"
    r"- Status: (?P<status>proposed|accepted|superseded)\n"
    r"- Superseded by: (?P<by>none|(?P<links>LINK(, LINK)*)(?P<part>, in part: .+)?)\n\n".replace(
        "LINK", r"\[\d{4}\]\([\w-]+\.md\)"
    )
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_has_the_header(page):
    header = HEADER.match(page.read_text(encoding="utf-8"))

    assert header, f"{page.name}: begin with title, Date, Status and Superseded by, as the other pages do"
    assert header["number"] == page.name[:4]
    assert (header["status"] == "superseded") == bool(header["links"] and not header["part"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_superseded_by_later_pages_that_exist(page):
    header = HEADER.match(page.read_text(encoding="utf-8"))

    for number, name in re.findall(r"\[(\d{4})\]\(([\w-]+\.md)\)", header["by"]):
        assert (FOLDER / name).is_file()
        assert name.startswith(number)
        assert number > page.name[:4]
