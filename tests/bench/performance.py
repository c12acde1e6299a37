"""docs/performance.md from what was measured; each part keeps its last lines until it is measured again."""

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.bench.line import Line

KEPT: Final = Path(".cache/bench.json")
PAGE: Final = Path("docs/performance.md")
HEAD: Final = """# What it costs

`make bench` measures and writes this page; `make bench PARTS="suite many"` measures some lines again. Wall time is
what a person waits, processor time that of all processes together, which a busy machine leaves comparable. Ratios are
of neighbours in one run. Where a goal is missed, the same command (a cluster apart) was sampled once more in one
process, and what its time went to is listed below the table: the packages with most of their own.
"""


def keep(part: str, found: list[Line]) -> None:
    """Enter the lines of a part, with where and when, and write the page anew."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept[part] = {"where": where(), "lines": [line.stored() for line in found]}
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def write(order: list[str]) -> None:
    """The page, its parts in this order."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    parts = [(name, kept[name]) for name in order if name in kept]
    rows = [(Line.of(line), part["where"]) for _, part in parts for line in part["lines"]]
    text = [HEAD, "| | goal | measured | | when, where |", "|---|---|---|---|---|"]
    text += [f"| {line.what} | {line.goal} | {line.measured} | {line.verdict} | {place} |" for line, place in rows]
    floors = [f"### {line.what}\n\n```\n{line.floor}\n```" for line, _ in rows if line.floor and line.met is False]
    if floors:
        text += ["", "## What stands in the way", "", *floors]
    PAGE.write_text("\n".join(text) + "\n", encoding="utf-8")


def where() -> str:
    """Day, processor count, load and Python: what a number of seconds is worth nothing without."""
    day, load = datetime.now(UTC).date(), os.getloadavg()[0]
    return f"{day}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}"
