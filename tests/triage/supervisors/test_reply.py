"""Free text in, a reply or a reason out: every shape a model has been seen to answer in has a defined outcome."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.state import NODES
from triage.supervisors.agent_registry_supervisor import (
    RegistryReply,
    Unusable,
    read,
    without_fences,
)

OBJECT = '{"reasoning": "It is next.", "next_agent": "critic", "input_check": "hypothesis is there"}'
SAID = RegistryReply("critic", "It is next.", "hypothesis is there")

READ = {
    "plain": OBJECT,
    "fenced": f"```json\n{OBJECT}\n```",
    "fenced without a language": f"```\n{OBJECT}\n```",
    "fenced in one line": f"```json {OBJECT} ```",
    "indented fence": f"  ```json\n  {OBJECT}\n  ```",
    "prose before": f"I think the critic is next.\n\n{OBJECT}",
    "prose after": f"{OBJECT}\nThis follows from the registry.",
    "prose around a fence": f"Sure!\n```json\n{OBJECT}\n```\nLet me know.",
    "prose with an odd quote": f'He said "wait, and then\n{OBJECT}',
    "prose with braces after": f"{OBJECT} (see {{registry}})",
    "trailing comma": OBJECT.replace('"}', '",}'),
    "trailing comma and a line break": OBJECT.replace('"}', '" ,\n }'),
    "more members": OBJECT.replace('"}', '", "confidence": 0.7, "tools": ["a", ]}'),
    "spaces around the name": OBJECT.replace('"critic"', '" critic "'),
    "over several lines": json.dumps(json.loads(OBJECT), indent=2),
}
UNUSABLE = {
    "empty": ("", "the reply was empty"),
    "blank": (" \n ", "the reply was empty"),
    "an empty fence": ("```json\n```", "the reply was empty"),
    "plain text": ("I would call the critic.", "the reply held no JSON object"),
    "a list": ('["critic"]', "the reply held no JSON object"),
    "a bare name": ('"critic"', "the reply held no JSON object"),
    "cut off in a string": (OBJECT[:30], "the JSON of the reply is broken or cut off"),
    "cut off after a member": (OBJECT[:28], "the JSON of the reply is broken or cut off"),
    "cut off around a whole object": ('{"plan": {"next_agent": "critic"}, "next_agent": "wri', "broken or cut off"),
    "single quotes": (OBJECT.replace('"', "'"), "the JSON of the reply is broken or cut off"),
    "nested too deeply": ('{"a":' * 100_000, "broken or cut off"),
    "two objects": (f"{OBJECT}\n{OBJECT}", "the reply held two JSON objects"),
    "two fences": (f"```json\n{OBJECT}\n```\nor\n```json\n{OBJECT}\n```", "the reply held two JSON objects"),
    "a second object cut off": (f'{OBJECT}\n{{"next_agent": "wri', "the reply held two JSON objects"),
    "an unknown agent": (
        OBJECT.replace('"critic"', '"manager"'),
        "the reply named an agent that is not in the registry: 'manager'",
    ),
    "the supervisor": (OBJECT.replace('"critic"', '"supervisor"'), "not in the registry"),
    "the word of another prompt": (OBJECT.replace('"critic"', '"end"'), "not in the registry"),
    "another case": (OBJECT.replace('"critic"', '"Critic"'), "not in the registry"),
    "no agent": ('{"reasoning": "r"}', "the reply named no next_agent"),
    "an empty name": (OBJECT.replace('"critic"', '""'), "the reply named no next_agent"),
    "a null": (OBJECT.replace('"critic"', "null"), "the reply named no next_agent"),
    "several agents": (OBJECT.replace('"critic"', '["critic", "writer"]'), "the reply named no next_agent"),
    "an empty object": ("{}", "the reply named no next_agent"),
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_an_object_is_found_wherever_it_stands(text):
    assert read(text) == SAID


@pytest.mark.parametrize(("text", "error"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_names_no_agent_is_unusable_and_says_why(text, error):
    found = read(text)

    assert isinstance(found, Unusable)
    assert error in found.error


def test_a_check_in_another_shape_is_kept_as_text():
    assert read('{"next_agent": "writer", "input_check": {"hypothesis": true}}').input_check == '{"hypothesis": true}'


def test_commas_inside_strings_are_left_alone():
    text = '{"reasoning": "first a, ] then \\", } b", "next_agent": "writer",}'

    assert read(text).reasoning == 'first a, ] then ", } b'


def test_only_lines_that_are_fences_are_stripped():
    assert without_fences("```json\na ``` b\n```") == "\na ``` b\n"


PIECES = [OBJECT, "```", "```json\n", "{", "}", ",", '"', "prose", "\n", '{"next_agent": "writer"', "finished"]
replies = (
    st.text()
    | st.text(alphabet='{}[]",:\\`\n ac', max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
)


@settings(deadline=None, derandomize=True)
@given(replies)
def test_no_reply_breaks_the_reader(text):
    """Whatever comes, it is a node of the graph or a reason."""
    found = read(text)

    assert (found.next_node in NODES) if isinstance(found, RegistryReply) else found.error


@settings(deadline=None, derandomize=True)
@given(st.text(), st.text(), st.sampled_from(["critic", "writer"]))
def test_a_complete_reply_is_read_whatever_its_words(reasoning, check, agent):
    said = {"reasoning": reasoning, "next_agent": agent, "input_check": check}

    assert read(json.dumps(said)) == RegistryReply(agent, reasoning, check)
