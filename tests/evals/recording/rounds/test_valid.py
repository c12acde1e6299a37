"""What an answer must fit is in its request."""

import pytest

from evals.recording.batch_files import fault
from tests.builders.interaction import a_chat_answer

SCHEMA = {
    "type": "object",
    "properties": {"next": {"enum": ["writer", "end"]}, "tries": {"type": "integer", "minimum": 0}},
    "required": ["next"],
    "additionalProperties": False,
}
STRUCTURED = {"response_format": {"type": "json_schema", "json_schema": {"name": "D", "schema": SCHEMA}}}
JSON_MODE = {"response_format": {"type": "json_object"}}
TOOLS = {"tools": [{"type": "function", "function": {"name": "look_up", "parameters": SCHEMA}}]}


def a_call(name, arguments):
    return {"content": None, "tool_calls": [{"id": "c", "function": {"name": name, "arguments": arguments}}]}


ROWS = {
    "fits": (STRUCTURED, {"content": '{"next": "end"}'}, None),
    "no such node": (STRUCTURED, {"content": '{"next": "x"}'}, "$.next: 'x' is not one of ['writer', 'end']"),
    "out of bounds": (STRUCTURED, {"content": '{"next": "end", "tries": -1}'}, "$.tries: -1 is less than the minimum"),
    "too much": (STRUCTURED, {"content": '{"next": "end", "why": 1}'}, "$: Additional properties are not allowed"),
    "fenced": (STRUCTURED, {"content": '```json\n{"next": "end"}\n```'}, "the content is not whole JSON"),
    "nothing": (STRUCTURED, {"content": None}, "the content is not whole JSON"),
    "refused": (STRUCTURED, {"content": None, "refusal": "I will not."}, None),
    "any object": (JSON_MODE, {"content": '{"title": "t"}'}, None),
    "null": (JSON_MODE, {"content": "null"}, "$: None is not of type 'object'"),
    "no object": (JSON_MODE, {"content": "[1]"}, "$: [1] is not of type 'object'"),
    "free text": ({}, {"content": "whatever"}, None),
    "a call that fits": (TOOLS, a_call("look_up", '{"next": "end"}'), None),
    "no call where one was possible": (TOOLS, {"content": "no need"}, None),
    "an unknown tool": (TOOLS, a_call("delete", "{}"), "the tool 'delete' was not offered, only look_up"),
    "a call that misfits": (TOOLS, a_call("look_up", "{}"), "$: 'next' is a required property"),
    "half a call": (TOOLS, a_call("look_up", '{"next'), "the call of look_up is not whole JSON"),
    "a call in place of JSON": (STRUCTURED | TOOLS, a_call("look_up", '{"next": "end"}'), None),
}


@pytest.mark.parametrize(("request_", "message", "said"), ROWS.values(), ids=ROWS.keys())
def test_an_answer_is_held_against_its_request(request_, message, said):
    answer = a_chat_answer()
    answer["choices"][0]["message"] = message

    found = fault(request_, answer)

    assert (found is None) if said is None else found.startswith(said)


def test_an_answer_that_was_cut_says_what_cut_it():
    answer = a_chat_answer('{"next": "en')
    answer["choices"][0]["finish_reason"] = "length"

    assert fault(STRUCTURED, answer) == "the content is not whole JSON (it ended by 'length')"
