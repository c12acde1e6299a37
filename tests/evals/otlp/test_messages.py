"""Recorded requests and answers in the conventions' form."""

import json

from evals.otlp.span_data import answered, asked

CALL = {"id": "q7Rk2Zp9Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsA", "function": {"name": "tavily_search", "arguments": '{"query": "x"}'}}


def test_every_message_is_a_role_and_its_parts():
    told = json.loads(
        asked({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]})
    )

    assert told == [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Why?"}]},
    ]


def test_a_tool_call_and_its_result_still_belong_together():
    """The id is told as a digest: those of the protocol are random, and would be taken for secrets."""
    called, given = json.loads(
        asked(
            {
                "messages": [
                    {"role": "assistant", "content": None, "tool_calls": [CALL]},
                    {"role": "tool", "tool_call_id": CALL["id"], "content": "pages"},
                ]
            }
        )
    )
    (call,), (result,) = called["parts"], given["parts"]

    assert (call["type"], call["name"], call["arguments"]) == ("tool_call", "tavily_search", '{"query": "x"}')
    assert (result["type"], result["response"]) == ("tool_call_response", "pages")
    assert call["id"] == result["id"] != CALL["id"]


def test_content_in_parts_keeps_its_parts():
    told = asked({"messages": [{"role": "user", "content": [{"type": "text", "text": "Why?"}, {"text": "Now."}]}]})

    assert [part["type"] for part in json.loads(told)[0]["parts"]] == ["text", "text"]


def test_what_has_no_messages_is_no_message():
    assert asked({}) == answered({}) == answered({"choices": "none"}) == "[]"
