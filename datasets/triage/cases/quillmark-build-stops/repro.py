"""A text may end with a star that emphasises nothing, as a footnote mark does."""

from quillmark.blocks import parse
from quillmark.filters import FILTERS
from quillmark.plugins import default_registry
from quillmark.render import render

CASES = {
    "Adults 9 EUR, children 4 EUR*": "<p>Adults 9 EUR, children 4 EUR*</p>",
    "*Free* for members**": "<p><em>Free</em> for members**</p>",
    "- guided tour*": "<ul><li>guided tour*</li></ul>",
}

for source, expected in CASES.items():
    try:
        shown = render(parse(source), default_registry(FILTERS), {}).body
    except IndexError as error:
        raise AssertionError(f"{source!r} cannot be read: {error}") from error
    assert shown == expected, shown
