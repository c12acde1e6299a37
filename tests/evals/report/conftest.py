"""One browser for all tests of a page: its start and its end take longer than most of them."""

import pytest

from tests.builders.chromium import a_chromium

browser = pytest.fixture(a_chromium, scope="package", name="browser")
