"""Every pair of colours the style sheet puts together can be read: WCAG 2.2 AA, in light and in dark.

Text needs 4.5:1 against what it stands on; focus rings, borders of fields and marks with a meaning need 3:1. A rule or
the tint of a node, which only repeats what is written beside it, needs nothing.
"""

import re
from itertools import product
from typing import Final

import pytest

from evals.report.html_page import asset

STYLE: Final = str(asset("report.css"))
NODES: Final = ("hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5")
SURFACES: Final = ("paper", "sheet", "faint")
TONES: Final = ("good", "bad", "wait")
TEXT: Final = (
    *product(("ink", "soft", "link", *TONES), SURFACES),
    *product(("ink", "soft", "link"), (f"{tone}-bg" for tone in TONES)),
    *((tone, f"{tone}-bg") for tone in TONES),
    *(("stop-ink", node) for node in (*NODES, "faint")),
)
MARKS: Final = (*product(("link", "soft", "ink", *TONES), SURFACES), *((tone, f"{tone}-bg") for tone in TONES))
DECORATION: Final = {"rule"}


def colours(dark: bool) -> dict[str, str]:
    """The custom properties that are colours, as `#rrggbb`, under one scheme."""
    light, night = (block for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2])
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", light))
    return found | (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", night)) if dark else {})


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_what_wcag_says_it_is():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (MARKS, 3.0)], ids=["text", "marks"])
def test_every_pair_can_be_told_apart(pairs, least: float, dark: bool):
    known = colours(dark)
    ratios = {(front, back): round(contrast(known[front], known[back]), 2) for front, back in pairs}

    assert {pair: ratio for pair, ratio in ratios.items() if ratio < least} == {}


@pytest.mark.parametrize(
    ("properties", "known"),
    [
        ("color|fill", {front for front, _ in (*TEXT, *MARKS)} | {back for _, back in TEXT} | DECORATION),
        ("background", {back for _, back in TEXT}),
        ("border[a-z-]*|outline|stroke", {front for front, _ in MARKS} | {"stop-ink", "sheet", *NODES} | DECORATION),
    ],
)
def test_no_colour_is_used_that_no_pair_covers(properties: str, known: set[str]):
    used = set(re.findall(rf"[\s;{{](?:{properties}): [^;}}]*?var\(--([\w-]+)\)", STYLE)) - {
        "tone",
        "wash",
        "shade",
        "much",
    }

    assert used - known == set()


def test_no_colour_is_written_outside_the_table_of_colours():
    """Else dark mode would not know of it; print may name its white."""
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)

    assert re.findall(r"#[0-9a-f]{3,6}\b(?=[;\s])", rest) == []


def test_nothing_moves():
    """So there is nothing to still for those who asked for reduced motion."""
    assert not re.search(r"transition|animation|scroll-behavior", STYLE)
