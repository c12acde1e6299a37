"""Who is asked, and how many things at once."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from evals.cli.endpoint_or_batch import at_once, search_endpoint
from evals.recording.endpoint import Endpoint


@pytest.mark.parametrize(
    ("url", "wanted", "asked"),
    [
        ("http://127.0.0.1:8091/v1", None, 1),
        ("http://localhost:8091/v1", 8, 1),
        ("http://127.0.0.1:8093/v1", 8, 8),
        ("https://gateway.invalid/v1", None, 4),
    ],
)
def test_the_local_model_is_asked_one_at_a_time_whatever_is_wanted(url, wanted, asked, capsys):
    assert at_once(Endpoint(url, ""), wanted) == asked
    assert ("two at once change its answers" in capsys.readouterr().err) == (wanted == 8 and asked == 1)


@pytest.mark.parametrize(
    ("served", "key", "asked"),
    [
        ({"search": "http://127.0.0.1:9"}, "", "http://127.0.0.1:9"),
        ({"search": "http://127.0.0.1:9"}, "a key", "https://api.tavily.com"),
        ({}, "", "http://search.invalid"),
    ],
)
def test_searches_go_to_tavily_where_there_is_a_key_else_to_the_server_of_the_pack_if_it_has_one(served, key, asked):
    pack = SimpleNamespace(recording_services=lambda _datasets: nullcontext(served))

    with search_endpoint(SimpleNamespace(pack=pack, datasets=None), key) as endpoint:
        assert endpoint.base_url == asked
