"""The last step before the network: where requests really go, and what they carry."""

import pytest

from evals.errors import ConfigurationError
from evals.recording.endpoint import Endpoint

URLS = {
    "http://127.0.0.1:8091/v1": "http://127.0.0.1:8091/v1/chat/completions",
    "http://127.0.0.1:8091/v1/": "http://127.0.0.1:8091/v1/chat/completions",
    "https://gateway.invalid/team/openai": "https://gateway.invalid/team/openai/chat/completions",
}


@pytest.mark.parametrize(("base_url", "url"), URLS.items())
def test_the_placeholder_is_replaced_by_the_endpoint(base_url, url):
    assert Endpoint(base_url, "").url("/v1/chat/completions", "/v1") == url


@pytest.mark.parametrize("base_url", ["", "localhost:8091", "ftp://host/v1", "http://"])
def test_what_is_no_endpoint_is_refused(base_url):
    with pytest.raises(ConfigurationError, match="is no endpoint"):
        Endpoint(base_url, "")


@pytest.mark.parametrize(("key", "sent"), [("k", {"authorization": "Bearer k"}), ("", {})])
def test_a_key_is_sent_where_there_is_one(key, sent):
    assert Endpoint("http://127.0.0.1/v1", key).headers() == sent


@pytest.mark.parametrize("base_url", ["https://jane:hunter2@host.invalid/v1", "https://hunter2@host.invalid/v1"])
def test_a_credential_in_the_url_is_refused_and_not_repeated(base_url):
    """The URL stands in every report of a recording."""
    with pytest.raises(ConfigurationError, match="--set api_key_env") as caught:
        Endpoint(base_url, "")

    assert "hunter2" not in str(caught.value)
