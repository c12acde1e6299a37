"""What is asked of a model must be something that OpenAI's strict mode accepts."""

from collections.abc import Iterator
from typing import Any

import pytest
from openai.lib._parsing._completions import type_to_response_format_param

from triage.agents import AGENTS
from triage.agents.agent import prompt_of
from triage.agents.codebase_search import CodebaseAnswer
from triage.agents.critic import CriticOutput
from triage.agents.investigator import InvestigatorOutput
from triage.agents.web_search import WebSearchOutput
from triage.agents.writer import ReportDraft
from triage.supervisors.plan.plan_supervisor import PlanDecision

ASKED = {
    "investigator": InvestigatorOutput,
    "codebase_search": CodebaseAnswer,
    "web_result": WebSearchOutput,
    "critic": CriticOutput,
    "writer_report": ReportDraft,
}
PROMPTS = (*ASKED, "web_search", "writer_comment", "writer_ticket")


def the_schema(model) -> dict[str, Any]:
    return type_to_response_format_param(model)["json_schema"]["schema"]


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("model", [*ASKED.values(), PlanDecision])
def test_every_object_is_closed_and_wants_all_its_fields(model):
    found = list(objects(the_schema(model)))

    assert found
    for schema in found:
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == set(schema["properties"])


def test_a_free_dict_would_be_noticed():
    """The check above must be able to fail."""
    from pydantic import BaseModel

    class Loose(BaseModel):
        anything: dict[str, str]

    assert any(schema["additionalProperties"] is not False for schema in objects(the_schema(Loose)))


@pytest.mark.parametrize(("prompt", "model"), ASKED.items())
def test_a_prompt_explains_every_field_of_its_schema(prompt, model):
    """A local server enforces the schema without ever showing it to the model."""
    system = prompt_of(prompt).messages[0].prompt.template

    assert [name for name in the_schema(model)["properties"] if f"- {name}:" not in system] == []


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_is_short_and_ends_with_what_the_supervisor_wants(prompt):
    """The supervisor's feedback reaches every worker; fifteen lines are what a small model follows."""
    system, human = (message.prompt.template for message in prompt_of(prompt).messages)

    assert system.count("\n") < 15
    assert human.endswith("{instructions}")


def test_every_agent_is_listed_under_its_own_name():
    assert {name: agent.name for name, agent in AGENTS.items()} == {name: name for name in AGENTS}
    assert list(AGENTS) == ["investigator", "codebase_search", "web_search", "critic", "writer"]
