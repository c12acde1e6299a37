"""The connection itself: who is asked, how long is waited, and what is said where nobody answers."""

import threading

import pytest

from evals.errors import ConfigurationError, ServiceError
from evals.langsmith.dataset_sync import find_dataset
from evals.langsmith.langsmith_client import ServicePatience, connected
from tests.builders.broken_server import a_broken_server
from tests.builders.langsmith_server import Fault

ONCE = ServicePatience(retries=0, timeout_s=60)


def test_an_older_name_of_a_variable_will_do(service):
    with connected(ONCE, {"LANGCHAIN_API_KEY": "a key", "LANGCHAIN_ENDPOINT": service.url}) as found:
        assert find_dataset(found, "triage-evals") is None

    assert service.count("GET /datasets") == 1


def test_an_address_that_is_none_is_one_line():
    with (
        pytest.raises(ConfigurationError, match=r"^LANGSMITH_ENDPOINT: not an address"),
        connected(ONCE, {"LANGSMITH_API_KEY": "a key", "LANGSMITH_ENDPOINT": "smith.example.com"}),
    ):
        pass


def test_a_service_that_stays_silent_is_not_waited_for_for_ever(service):
    given_up = threading.Event()
    service.faults.append(Fault("GET /datasets", until=given_up))
    briefly = ServicePatience(retries=0, timeout_s=3)  # enough for the first request, which is answered

    with (
        pytest.raises(ServiceError, match=r"cannot be reached \(reading dataset triage-evals\)"),
        connected(briefly, {"LANGSMITH_API_KEY": "a key", "LANGSMITH_ENDPOINT": service.url}) as found,
    ):
        find_dataset(found, "triage-evals")
    given_up.set()


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n<html></html>",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        b"SSH-2.0-OpenSSH\r\n",
    ],
    ids=["nothing", "half", "a web page", "a list", "something else"],
)
def test_whoever_else_answers_at_that_address_is_one_line(says):
    with a_broken_server(says, "close") as url:
        environment = {"LANGSMITH_API_KEY": "a key", "LANGSMITH_ENDPOINT": url}
        with pytest.raises(ServiceError) as refused, connected(ONCE, environment):
            pass

    assert str(refused.value).startswith(f"{url} cannot be reached")
    assert "\n" not in str(refused.value)


def test_what_the_service_says_is_not_repeated(service):
    service.faults.append(Fault("GET /datasets", status=400))

    with (
        pytest.raises(ServiceError) as refused,
        connected(ONCE, {"LANGSMITH_API_KEY": "a key", "LANGSMITH_ENDPOINT": service.url}) as found,
    ):
        find_dataset(found, "triage-evals")

    assert "status 400" in str(refused.value)
    assert "planned" not in str(refused.value)
    assert "a key" not in str(refused.value)
