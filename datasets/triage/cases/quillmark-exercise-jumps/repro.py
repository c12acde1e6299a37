"""No two headings of a page share an anchor, also where a heading looks like a numbered one."""

from quillmark.blocks import parse
from quillmark.filters import FILTERS
from quillmark.plugins import default_registry
from quillmark.render import render

PAGES = {
    "# Task\n# Task\n# Task 2": ("task", "task-2", "task-2-2"),
    "# Task 2\n# Task\n# Task": ("task-2", "task", "task-3"),
}

for source, expected in PAGES.items():
    done = render(parse(source), default_registry(FILTERS), {})
    assert done.anchors == expected, done.anchors
    assert all(f'href="#{slug}"' in done.toc for slug in expected), done.toc
