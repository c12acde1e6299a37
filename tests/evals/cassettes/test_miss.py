"""A miss in words."""

from evals.cassettes.nearest_request import describe
from tests.builders.interaction import a_miss


def test_a_miss_is_told_in_one_line():
    miss = a_miss("Line one\nof a question " + "with many words " * 20, agent="writer")

    assert describe(miss) == (
        "writer (small) asked POST /v1/chat/completions: Line one of a question with many words with many words with …"
    )


def test_a_search_is_told_by_its_query():
    miss = a_miss().__class__("k", 0, "web_search", "POST", "/search", "", b'{"query": "parcel rounding"}')

    assert describe(miss) == "web_search asked POST /search: parcel rounding"


def test_a_body_that_is_not_json_is_told_too():
    miss = a_miss().__class__("k", 0, "unknown", "GET", "/v1/models", "", b"")

    assert describe(miss) == "unknown asked GET /v1/models: an empty body"
