"""A browser for the tests that open a page."""

from collections.abc import Callable, Iterator

import pytest

from tests.builders.chromium import the_chromium

browser = pytest.fixture(the_chromium, scope="module", name="browser")


@pytest.fixture(scope="module")
def window(browser) -> Iterator:
    """Offline, and it stays: a page in a window of its own takes twice the time. A report stores nothing in it."""
    context = browser.new_context(offline=True)
    context.new_page()
    yield context
    context.close()


@pytest.fixture
def new_page(window) -> Iterator[Callable]:
    """Opens an empty page of a size; all are closed at the end."""
    pages = []

    def one(width: int = 1280, height: int = 720):
        pages.append(window.new_page())
        pages[-1].set_viewport_size({"width": width, "height": height})
        return pages[-1]

    yield one
    for page in pages:
        page.close()
