"""Fixtures of tests that exchange something with LangSmith; a conftest.py imports them."""

import pytest

from tests.builders.checkout import a_checkout, evals
from tests.builders.langsmith_server import a_langsmith


@pytest.fixture
def service(monkeypatch):
    """A LangSmith on loopback whose variables are set. What it refused for its schemas fails the test, whatever else
    came of it."""
    with a_langsmith() as found:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", found.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "a key")
        yield found
    assert not found.store.refused


@pytest.fixture
def checkout(tmp_path):
    """Two cases, wrong-sum and wrong-total."""
    return a_checkout(tmp_path / "checkout")


@pytest.fixture
def there(service, checkout):
    """The service, with the dataset in it."""
    assert evals(checkout, "langsmith", "push", "cases").code == 0
    return service
