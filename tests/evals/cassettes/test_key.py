"""A key is equal for two spellings of one question and differs as soon as the question does."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evals.cassettes.request_key import parse_json, parsed_request, request_key
from tests.builders.interaction import CHAT, a_chat_request

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
BODIES = st.dictionaries(st.text(), JSON)
# A busy machine is no failure of the code.
UNHURRIED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def key_of(body: object, path: str = CHAT) -> str:
    return request_key("POST", path, json.dumps(body).encode())


def shuffled(value: object) -> object:
    """The same JSON with every object's members in reverse order."""
    if isinstance(value, dict):
        return {name: shuffled(member) for name, member in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@UNHURRIED
@given(BODIES)
def test_the_order_of_members_does_not_count(body):
    assert key_of(shuffled(body)) == key_of(body)


@UNHURRIED
@given(BODIES)
def test_indentation_and_escapes_do_not_count(body):
    spelled = json.dumps(body, indent=3, ensure_ascii=False).encode()

    assert request_key("POST", CHAT, spelled) == key_of(body)


@UNHURRIED
@given(BODIES, st.sampled_from(["seed", "stop", "metadata"]))
def test_a_null_member_counts_as_absent(body, name):
    body.pop(name, None)

    assert key_of({**body, name: None}) == key_of(body)


@UNHURRIED
@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_a_whole_float_counts_as_the_integer(number):
    assert key_of({"temperature": float(number)}) == key_of({"temperature": number})


def test_stream_false_counts_as_absent():
    assert key_of(a_chat_request(stream=False)) == key_of(a_chat_request())


def test_a_credential_in_the_body_does_not_count():
    assert key_of(a_chat_request(api_key="one")) == key_of(a_chat_request())


@pytest.mark.parametrize(
    "other",
    [
        a_chat_request("Another question"),
        a_chat_request(model="large"),
        a_chat_request(stream=True),
        a_chat_request(seed=7),
        {**a_chat_request(), "temperature": 0.1},
        a_chat_request(tools=[{"type": "function", "function": {"name": "search"}}]),
        a_chat_request(response_format={"type": "json_object"}),
    ],
)
def test_everything_that_shapes_the_answer_counts(other):
    assert key_of(other) != key_of(a_chat_request())


def test_true_is_not_one():
    assert key_of({"logprobs": True}) != key_of({"logprobs": 1})


def test_null_inside_a_schema_is_a_word_of_its_own():
    """`const: null` asks for null; without it anything is allowed."""
    schema = {"type": "json_schema", "json_schema": {"schema": {"const": None}}}

    assert key_of(a_chat_request(response_format=schema)) != key_of(
        a_chat_request(response_format={"type": "json_schema", "json_schema": {"schema": {}}})
    )


def test_path_query_and_method_count():
    body = json.dumps(a_chat_request()).encode()
    keys = {
        request_key("POST", CHAT, body),
        request_key("GET", CHAT, body),
        request_key("POST", "/search", body),
        request_key("POST", CHAT + "?version=2", body),
    }

    assert len(keys) == 4


@pytest.mark.parametrize("body", [b"", b"plain", b'{"a": NaN}', b'{"a": 1e999}', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_not_json_counts_byte_for_byte(body):
    assert request_key("POST", CHAT, body) != request_key("POST", CHAT, body + b" ")


def test_the_key_of_a_known_request_never_changes():
    """Pinned: whoever changes this has to raise CANONICALISATION and record everything again."""
    assert key_of({"b": 1.0, "a": [None, "é"]}) == "afffa943ffa7ebc6968b239dc46e6baad2f0af54b566e179e488f42ef823d7d8"


@UNHURRIED
@given(BODIES)
@example({"temperature": 0.0, "tools": [{"minimum": 1.0}]})
@example({"temperature": -0.0, "top_p": 1.0, "stop": None, "stream": False})
def test_a_body_read_once_has_the_content_and_the_key_of_one_read_twice(body):
    text = json.dumps(body)
    value, key = parsed_request("post", CHAT, text)
    assert (repr(value), key) == (repr(parse_json(text)), request_key("post", CHAT, text.encode()))
