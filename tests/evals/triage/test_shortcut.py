"""The short way through a replay: the same key, the same reading of an answer, and the SDK for all the rest."""

import random
from collections import defaultdict
from typing import Any, Literal

import pytest
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape
from tests.builders.interaction import a_chat_answer, a_tape, an_interaction
from tests.builders.paths import a_path, names_of, outcome
from tests.builders.shipped import SEED, every, some_kinds
from triage.agents.codebase_search import CodebaseAnswer
from triage.agents.critic import CriticOutput
from triage.agents.investigator import InvestigatorOutput
from triage.agents.web_search import WebSearchOutput
from triage.agents.writer import ReportDraft
from triage.supervisors.llm_supervisor import SupervisorDecision
from triage.supervisors.plan.plan_supervisor import PlanDecision

OF_A_KIND = 6
"""Interactions of a cassette that are looked at, of each agent, model and shape of answer."""
SHAPES: dict[str, type[BaseModel]] = {
    shape.__name__: shape
    for shape in (
        CodebaseAnswer,
        CriticOutput,
        InvestigatorOutput,
        PlanDecision,
        ReportDraft,
        SupervisorDecision,
        WebSearchOutput,
    )
}


class Verdict(BaseModel):
    file: str
    verdict: Literal["right", "wrong"]


def judged(model: ChatOpenAI) -> Runnable[Any, Any]:
    return model.with_structured_output(Verdict)


async def recorded(chain_of=judged, **more: Any) -> Interaction:
    """The interaction the plain path would look for; `more` are its other fields."""
    await outcome(chain_of(a_path(short=False).model), "Who is right?", tape := a_tape())
    miss = tape.ledger.misses[0]
    return an_interaction(key=miss.key, request={}, uri=miss.path, **more)


async def both(interaction: Interaction, chain_of=judged) -> list[Any]:
    """What the plain path and the short one make of an answer."""
    return [
        await outcome(chain_of(a_path(short=short).model), "Who is right?", a_tape(interaction))
        for short in (False, True)
    ]


async def test_a_recorded_request_is_never_built():
    short = a_path(short=True)
    answer = await recorded(answer='{"file": "a.py", "verdict": "right"}')

    assert await outcome(judged(short.model), "Who is right?", a_tape(answer)) == Verdict(file="a.py", verdict="right")
    assert short.transport.asked == 0


async def test_what_was_served_is_in_the_ledger():
    answer = await recorded(answer='{"file": "a.py", "verdict": "right"}')
    await outcome(judged(a_path(short=True).model), "Who is right?", tape := a_tape(answer))

    assert tape.ledger.served == [answer]


ANSWERS = {
    "as asked": {"content": '{"file": "a.py", "verdict": "right"}'},
    "another word": {"content": '{"file": "a.py", "verdict": "perhaps"}'},
    "no JSON": {"content": "In a.py."},
    "cut JSON": {"content": '{"file": "a.p'},
    "nothing": {"content": ""},
    "null": {"content": None},
    "a refusal": {"content": None, "refusal": "I would rather not."},
    "a refusal beside an answer": {"content": '{"file": "a.py", "verdict": "right"}', "refusal": "No."},
    "a call": {
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    "members of its own": {"content": '{"file": "a.py", "verdict": "wrong"}', "reasoning": "It says so.", "parsed": 1},
}
ENDS = ["stop", "length", "content_filter", "tool_calls", None]


def an_answer(end: str | None, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": end, "message": {"role": "assistant", **message}}
    return a_chat_answer(choices=[choice], system_fingerprint="f", extra={"a": 1})


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("message", ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_is_read_alike_on_both_paths(message, end):
    """Errors too: their kind and their words become the next request."""
    plain, short = await both(await recorded(response=an_answer(end, **message)))

    assert short == plain


@pytest.mark.parametrize("response", [{}, {"choices": None}, {"choices": []}, {"choices": ["a"]}, {"choices": [{}]}])
async def test_an_answer_of_another_shape_is_refused_alike(response):
    plain, short = await both(await recorded(response=response))

    assert short == plain


TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize(
    ("chain_of", "words"),
    [
        (judged, "Who?"),
        (lambda model: model, "Wér?\u2028\x7f\U0001f642"),
        (lambda model: model.bind(tools=[TOOL], tool_choice="auto"), "Who?"),
    ],
    ids=["a schema", "a text", "a tool"],
)
async def test_a_miss_is_the_plain_paths_and_the_sdk_is_not_asked(chain_of, words):
    """Its bytes are counted and compared with what is recorded."""
    ledgers = []
    for short in (False, True):
        path = a_path(short=short, max_tokens=9)
        error = await outcome(chain_of(path.model), words, tape := a_tape())
        ledgers.append((error, tape.ledger))

    assert ledgers[0] == ledgers[1]
    assert len(ledgers[1][1].misses) == 1
    assert path.transport.asked == 0


async def test_half_a_character_goes_the_plain_way():
    """JSON can spell it, but not as bytes."""
    errors = [await outcome(a_path(short=short).model, "\ud800", a_tape()) for short in (False, True)]

    assert errors[0] == errors[1]


async def test_repeated_requests_hear_the_samples_in_turn():
    takes = [await recorded(lambda model: model, sample=n, answer=f"take {n}") for n in range(2)]
    path, tape = a_path(short=True), a_tape(*takes, sample=1, samples=2)
    heard = [(await outcome(path.model, "Who is right?", tape))["content"] for _ in range(3)]

    assert heard == ["take 1", "take 0", "take 1"]


@pytest.mark.parametrize("argument", [{"seed": 1}, {"extra_body": {"seed": 1}}, {"n": 1}, {"stop": ["."]}])
async def test_an_argument_that_is_not_known_here_goes_through_the_sdk(argument):
    chain_of = lambda model: model.bind(**argument)  # noqa: E731
    short = a_path(short=True)
    answer = await recorded(chain_of, answer="All of them.")

    assert (await outcome(chain_of(short.model), "Who is right?", a_tape(answer)))["content"] == "All of them."
    assert short.transport.asked == 1


async def test_without_a_tape_the_transport_says_so():
    with pytest.raises(LookupError, match="no tape is set"):
        await a_path(short=True).model.ainvoke("Who?")


def chain_of(interaction: Interaction, model: ChatOpenAI) -> Runnable[Any, Any]:
    """The chain that made this request."""
    request = interaction.request
    shape = request.get("response_format") or {}
    if "tools" in request:
        return model.bind(tools=request["tools"], **{k: request[k] for k in ("tool_choice",) if k in request})
    if shape.get("type") == "json_schema":
        return model.with_structured_output(SHAPES[shape["json_schema"]["name"]])
    return model.bind(response_format=shape) if shape else model


def looked_at(interactions: list[Interaction]) -> list[Interaction]:
    """Chats, for searches have one path only: a few of each kind, and every one under `make test EVERY=1`."""
    kinds = defaultdict(list)
    for found in interactions:
        if found.uri.endswith("/chat/completions"):
            shape = (found.request.get("response_format") or {}).get("json_schema", {}).get("name")
            kinds[found.agent, found.request["model"], shape, "tools" in found.request].append(found)
    dice = random.Random(SEED)  # noqa: S311 - a sample, no key
    return [
        one for each in kinds.values() for one in (each if every() else dice.sample(each, min(OF_A_KIND, len(each))))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("cassette", some_kinds(), ids=lambda path: path.stem)
async def test_every_committed_interaction_is_found_and_read_alike(cassette):
    """The proof the shortcut rests on: the same digest, and the same result or error, for each of them."""
    paths = {}
    for found in looked_at(load(cassette).interactions):
        alone = found.model_copy(update={"sample": 0})
        seen = []
        for short in (False, True):
            made = found.agent, found.request["model"], found.request.get("max_completion_tokens"), short
            if made not in paths:
                paths[made] = a_path(agent=made[0], model=made[1], max_tokens=made[2], short=short)
            tape = Tape(Cassette(cassette, [alone]))
            result = await outcome(chain_of(found, paths[made].model), found.request["messages"], tape)
            seen.append((names_of(tape), result))
        assert seen[0] == seen[1]
        assert seen[1][0] == [found.key]

    assert all(path.transport.asked == 0 for (*_, short), path in paths.items() if short)
