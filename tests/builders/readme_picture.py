"""Picture of the README: the first divergence of one case.

Run `python -m tests.builders.readme_picture` after `make eval`.
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.builders.chromium import CHEAP, PROGRAM
from tests.builders.docs_pages import ROOT

CASE, VARIANT = "quillmark-lost-links", "v6"
PICTURE = ROOT / "docs" / "images" / "divergence.png"
WIDTH, HEIGHT, MARGIN = 940, 690, 8
PLAIN_TEXT = ["--disable-lcd-text", "--font-render-hinting=none"]  # grey letters: half the bytes of coloured ones


def take(report: Path, picture: Path) -> None:
    """Open the case in the report and save its first divergence as PNG."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=PROGRAM, args=[*CHEAP, *PLAIN_TEXT])
        page = browser.new_page(viewport={"width": WIDTH, "height": 2 * HEIGHT})
        page.goto(f"{report.resolve().as_uri()}#case={CASE}/{VARIANT}")
        opened = page.locator("details.divergence[open]").first
        opened.wait_for()
        box = opened.bounding_box()
        assert box is not None, f"{CASE}: no divergence of {VARIANT} is shown"
        clip = {
            "x": box["x"] - MARGIN,
            "y": box["y"] - MARGIN,
            "width": box["width"] + 2 * MARGIN,
            "height": HEIGHT,
        }
        page.screenshot(path=str(picture), clip=clip)  # type: ignore[arg-type]
        browser.close()


if __name__ == "__main__":
    take(ROOT / "reports" / "latest" / "index.html", PICTURE)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")
