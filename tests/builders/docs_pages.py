"""Pages of the documentation: kinds, links, anchors and words. `python -m tests.builders.docs_pages` counts words."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = ("tutorial", "how-to", "reference", "explanation")
GENERATED = (
    re.compile(r"^\| `[a-z_]+\.[a-z_0-9]+` \|.*\| (?:higher|lower) \|"),  # docs/metrics.md: docstrings of the scorers
    re.compile(r"^\| .* \| \d+ \| \d+ \| (?:\d+|nothing) \|$"),  # docs/reliability.md: what `make chaos` printed
)
"""Rows of tables that a program writes."""
GENERATED_PAGES = ("performance.md",)
FENCE = re.compile(r"^ *```")
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")


def pages(root: Path = ROOT) -> list[Path]:
    """The pages below docs/, without the decisions."""
    return sorted((root / "docs").glob("*.md"))


def entry_pages(root: Path = ROOT) -> list[Path]:
    """Texts at the top that lead into the documentation."""
    return [root / name for name in ("README.md", "AGENTS.md", "CONTRIBUTING.md", "llms.txt")]


def prose(page: Path) -> Iterator[str]:
    """The lines of a page that are in no block of code."""
    within = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            within = not within
        elif not within:
            yield line


def links(page: Path) -> list[str]:
    """Targets of the links of a page that lead to files of this repository."""
    found = [target for line in prose(page) for target in LINK.findall(re.sub(r"`[^`]*`", "", line))]
    return [target for target in found if "://" not in target]


def anchors(page: Path) -> set[str]:
    """Anchors that GitHub makes of the headings of a page."""
    titles = [line.lstrip("#").strip() for line in prose(page) if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def words(page: Path) -> int:
    """Words of a page, code included, generated rows of tables left out. A word has a letter or a digit."""
    if page.name in GENERATED_PAGES:
        return 0
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if not is_generated(line)]
    return sum(any(c.isalnum() for c in word) for line in lines for word in line.split())


def is_generated(line: str) -> bool:
    """Whether a line is a row of a table that a program writes."""
    return any(row.match(line) for row in GENERATED)


if __name__ == "__main__":
    ROOT_GIVEN = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    counts = {page.name: words(page) for page in pages(ROOT_GIVEN)}
    print("\n".join(f"{count:6,} {name}" for name, count in counts.items()))
    print(f"{sum(counts.values()):6,} in all, without decisions and generated tables")
