"""One browser for the tests of a module: while one runs, no event loop can start in its process."""

import pytest

from tests.builders.chromium import a_chromium

browser = pytest.fixture(a_chromium, scope="module", name="browser")
