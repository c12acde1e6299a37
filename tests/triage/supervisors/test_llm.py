"""The LLM supervisor over a real SDK and an endpoint in memory: what is forgiven, what is corrected, what surfaces."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx2
import openai
import pytest

from tests.builders.endpoint import Endpoint, a_completion, a_decision, some_models
from tests.builders.state import a_state
from triage.graph_configuration import Configuration
from triage.llm import ModelFactory
from triage.prompts.load import load_supervisor_prompt
from triage.state import NODES, HumanExchange
from triage.supervisors import SUPERVISORS

PROMPT = load_supervisor_prompt("v2")


@dataclass(frozen=True)
class SomeTools:
    models: ModelFactory


def a_supervisor(answer: Callable[[httpx2.Request], httpx2.Response]):
    return SUPERVISORS["llm"](Configuration(prompt=PROMPT), SomeTools(some_models(answer)))


def an_endpoint(*replies) -> Endpoint:
    return Endpoint({"supervisor": replies})


def raw(*bodies) -> Callable[[httpx2.Request], httpx2.Response]:
    """Whole response bodies, the last one for ever; for replies that no content can express."""
    queue = list(bodies)
    return lambda _: httpx2.Response(200, json=queue.pop(0) if len(queue) > 1 else queue[0])


INVALID = {
    "broken JSON": a_completion('{"next_node": "writer"'),
    "no JSON": a_completion("I would ask the writer."),
    "bad enum": a_completion(
        '{"next_node":"manager","reasoning":"","question":null,"question_context":null,"confidence":1}'
    ),
    "missing field": a_completion('{"next_node":"writer"}'),
    "confidence above 1": a_completion(
        '{"next_node":"writer","reasoning":"","question":null,"question_context":null,"confidence":70}'
    ),
    "empty content": a_completion(""),
    "no content": a_completion(None),
    "refusal": a_completion(None, refusal="I cannot help with that."),
    "cut off": a_completion('{"next_node":"wri', finish="length"),
    "filtered": a_completion("", finish="content_filter"),
}
VALID = a_completion('{"next_node":"critic","reasoning":"r","question":null,"question_context":null,"confidence":0.6}')


async def test_a_valid_reply_is_the_choice():
    update = await a_supervisor(an_endpoint(a_decision("critic", confidence=0.6)))(a_state())

    assert update == {
        "next_node": "critic",
        "supervisor_reasoning": "It is next.",
        "supervisor_confidence": 0.6,
        "forced_fallback": False,
        "corrections": 0,
    }


async def test_the_model_is_asked_at_temperature_zero_for_the_strict_schema():
    endpoint = an_endpoint(a_decision())
    await a_supervisor(endpoint)(a_state())

    body = endpoint.asked[0][1]
    assert body["temperature"] == 0
    assert body["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize("reply", INVALID.values(), ids=INVALID)
async def test_an_invalid_reply_is_corrected_once(reply):
    update = await a_supervisor(raw(reply, VALID))(a_state())

    assert (update["next_node"], update["corrections"], update["forced_fallback"]) == ("critic", 1, False)


@pytest.mark.parametrize("reply", INVALID.values(), ids=INVALID)
async def test_a_second_invalid_reply_forces_the_writer(reply):
    update = await a_supervisor(raw(reply))(a_state())

    assert update["next_node"] == "writer"
    assert update["supervisor_confidence"] == 0.0
    assert update["forced_fallback"]


async def test_the_model_gets_two_attempts_and_no_third():
    endpoint = an_endpoint("nonsense")
    await a_supervisor(endpoint)(a_state())

    assert endpoint.count("supervisor") == 2


async def test_a_correction_quotes_the_error_and_the_allowed_values():
    endpoint = an_endpoint(a_decision("manager"), a_decision())
    await a_supervisor(endpoint)(a_state())

    *before, correction = endpoint.messages("supervisor", 1)
    assert before == endpoint.messages("supervisor", 0)
    assert "next_node: Input should be 'investigator'" in correction
    assert ", ".join(NODES) in correction


@pytest.mark.parametrize("name", ["cut off", "empty content", "refusal"])
async def test_a_correction_depends_on_the_reply_alone(name):
    """Ids and usage counts differ from recording to recording; the next request must not."""
    asked = []

    def endpoint(body):
        def answer(request):
            asked.append(request.content)
            return httpx2.Response(200, json=body)

        return answer

    await a_supervisor(endpoint(INVALID[name]))(a_state())
    await a_supervisor(endpoint({**INVALID[name], "id": "chatcmpl-2", "usage": {**VALID["usage"], "total_tokens": 9}}))(
        a_state()
    )

    assert asked[1] == asked[3]


@pytest.mark.parametrize(
    ("status", "raised"),
    [(401, openai.AuthenticationError), (500, openai.InternalServerError), (429, openai.RateLimitError)],
)
async def test_an_outage_surfaces(status, raised):
    with pytest.raises(raised):
        await a_supervisor(an_endpoint(status))(a_state())


class UnrecordedError(LookupError):
    """What a replay raises for a request nobody recorded."""


async def test_an_unrecorded_request_is_never_taken_for_invalid_output():
    def missing(_):
        raise UnrecordedError("no such request")

    with pytest.raises((UnrecordedError, openai.APIConnectionError)) as caught:
        await a_supervisor(missing)(a_state())

    assert isinstance(caught.value, UnrecordedError) or isinstance(caught.value.__cause__, UnrecordedError)


async def test_a_question_is_kept_for_the_human():
    reply = a_decision("human_input", question="Which database?", question_context="Two are supported.")
    update = await a_supervisor(an_endpoint(reply))(a_state())

    assert update["pending_exchange"] == HumanExchange(question="Which database?", context="Two are supported.")
    assert update["awaiting_human"]
