"""What comes over the wire is an answer, one request's misfortune, or the end of the recording."""

import json

import pytest

from evals.cassettes.live_answer import HttpReply, usable
from evals.cassettes.player import IncomingRequest
from evals.errors import RecordingError, RecordingStoppedError
from tests.builders.interaction import a_chat_answer, an_asked

ENDS = {
    "key": (401, "", "the key is not accepted"),
    "a key by its code": (400, "invalid_api_key", "the key is not accepted"),
    "credit": (402, "", "the account is out of credit"),
    "credit by its code": (429, "insufficient_quota", "the account is out of credit"),
    "rights": (403, "", "the key may not do this"),
    "model": (404, "", "status 404 about small; there is no such model or address"),
    "model by its code": (400, "model_not_found", "status 400 about small; there is no such model or address"),
    "limit": (429, "", "run it again later, or with a lower --set concurrency"),
}


def a_reply(status: int = 200, body: object = None, kind: str = "application/json") -> HttpReply:
    return HttpReply(status, kind, body if isinstance(body, bytes) else json.dumps(body or {}).encode())


@pytest.mark.parametrize(("status", "code", "advice"), ENDS.values(), ids=ENDS.keys())
def test_what_every_request_would_meet_ends_the_recording(status, code, advice):
    with pytest.raises(RecordingStoppedError, match=advice):
        usable(an_asked(), a_reply(status, {"error": {"code": code}}))


@pytest.mark.parametrize("status", [400, 413, 422, 500, 503])
def test_what_one_request_meets_costs_its_trial_only(status):
    with pytest.raises(RecordingError) as caught:
        usable(an_asked(), a_reply(status, {"error": "no such thing"}))

    assert not isinstance(caught.value, RecordingStoppedError)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_stream_is_known_by_its_type_or_by_its_words(kind):
    with pytest.raises(RecordingStoppedError, match="a stream: name an endpoint that answers in one piece"):
        usable(an_asked(), a_reply(body=b'data: {"choices": []}\n\n', kind=kind))


def test_a_search_that_is_refused_speaks_of_its_own_key():
    searched = IncomingRequest("POST", "/search", b'{"query": "q"}', "web_search")

    with pytest.raises(RecordingStoppedError, match="set TAVILY_API_KEY to a key that works, or unset it"):
        usable(searched, a_reply(401))


def test_an_answer_beyond_all_measure_is_refused_in_one_line():
    with pytest.raises(RecordingError, match="more than 8,000,000 bytes, which are not kept") as caught:
        usable(an_asked(), a_reply(body=b'"' + b"x" * 8_000_000 + b'"'))

    assert len(str(caught.value)) < 500


def test_a_whole_answer_is_its_json():
    assert usable(an_asked(), a_reply(body=a_chat_answer())) == a_chat_answer()


ODD = {
    "a usage that is a list": {"usage": [1]},
    "a service tier that is an object": {"service_tier": {}},
    "a fingerprint that is a number": {"system_fingerprint": 7},
    "a model that is a list": {"model": ["m"]},
    "half a surrogate pair": {"model": "\ud800"},
}
ODD_CHOICES = {
    "a reason that is a list": {"finish_reason": ["stop"]},
    "calls that are a text": {"message": {"content": "", "tool_calls": "search"}},
    "calls that are a number": {"message": {"content": "", "tool_calls": 3}},
    "a call that is null": {"message": {"content": "", "tool_calls": [None]}},
    "a call without a function": {"message": {"content": "", "tool_calls": [{}]}},
}


@pytest.mark.parametrize("answer", [*ODD.values()], ids=[*ODD])
def test_an_odd_but_whole_answer_costs_its_trial_and_nothing_more(answer):
    with pytest.raises(RecordingError, match="nothing recorded"):
        usable(an_asked(), a_reply(body={**a_chat_answer("a"), **answer}))


@pytest.mark.parametrize("choice", [*ODD_CHOICES.values()], ids=[*ODD_CHOICES])
def test_an_odd_choice_costs_its_trial_and_nothing_more(choice):
    whole = a_chat_answer("a")
    odd = {**whole, "choices": [{**whole["choices"][0], **choice}]}

    with pytest.raises(RecordingError, match="another shape"):
        usable(an_asked(), a_reply(body=odd))
