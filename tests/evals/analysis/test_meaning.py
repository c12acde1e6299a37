"""What of an answer is compared: what it says, never how."""

import json

import pytest

from evals.analysis.drift_session import ROUTER, UNREADABLE, fields_of, meaning
from evals.triage.drift_fields import FIELDS
from tests.builders.endpoint import WORKER_REPLIES, a_completion, a_decision
from tests.builders.plan import tool_call
from triage.agents.codebase_search import CodebaseAnswer
from triage.agents.critic import CriticOutput
from triage.agents.web_search import WebSearchOutput
from triage.agents.writer import ReportDraft
from triage.supervisors.llm_supervisor import SupervisorDecision

FORMS = {
    ROUTER: SupervisorDecision,
    "codebase_search": CodebaseAnswer,
    "web_search": WebSearchOutput,
    "critic": CriticOutput,
    "writer": ReportDraft,
}


def a_request(agent):
    form = FORMS[agent]
    schema = {"name": form.__name__, "schema": form.model_json_schema()}
    return {"model": "m", "messages": [], "response_format": {"type": "json_schema", "json_schema": schema}}


def said(agent, content):
    text = content if isinstance(content, str) else json.dumps(content)
    return meaning(agent, a_request(agent), a_completion(text), FIELDS)


def a_worker_says(agent, **changes):
    return said(agent, {**WORKER_REPLIES[agent], **changes})


def test_a_decision_is_the_node_whatever_its_reasons():
    one = said(ROUTER, a_decision("critic", reasoning="It is time.", confidence=0.7))
    other = said(ROUTER, a_decision("critic", reasoning="A review is due.", confidence=0.7))

    assert one == other == {"decision": "critic", "confidence": 0.7, "schema": True}


def test_files_are_a_set_however_they_are_spelt():
    one = a_worker_says("writer", root_cause_location="shop/cart.py::Cart.add", affected_files=["shop/sum.py"])
    other = a_worker_says(
        "writer", root_cause_location="./shop/sum.py:12", affected_files=["shop/cart.py", "shop/sum.py"]
    )

    assert one["files"] == other["files"] == {"shop/cart.py", "shop/sum.py"}


@pytest.mark.parametrize(
    ("agent", "field", "change"),
    [
        ("writer", "category", {"category": "feature"}),
        ("writer", "severity", {"severity": "LOW"}),
        ("writer", "confidence", {"confidence": 0.1}),
        ("critic", "verdict", {"verdict": "CHALLENGED"}),
        ("codebase_search", "files", {"root_cause_location": "shop/sum.py"}),
        ("web_search", "cause outside", {"external_root_cause": "A bug in the library."}),
        ("web_search", "pages", {"relevant_results": [{"url": "https://docs.invalid/1", "title": "t", "why": "w"}]}),
    ],
)
def test_each_field_changes_alone(agent, field, change):
    was, now = a_worker_says(agent), a_worker_says(agent, **change)

    assert {name for name in was if was[name] != now[name]} == {field}


@pytest.mark.parametrize("content", ['{"next_node": "cri', '{"next_node": "nobody"}', "", "critic"])
def test_an_answer_that_breaks_its_schema_is_unreadable_in_every_field(content):
    assert said(ROUTER, content) == {"decision": UNREADABLE, "schema": False}


def test_a_refusal_fits_the_protocol_and_decides_nothing():
    found = meaning(ROUTER, a_request(ROUTER), a_completion(None, refusal="I cannot."), FIELDS)

    assert found == {"decision": UNREADABLE, "schema": True}


def test_a_plan_is_compared_by_what_is_called_not_by_its_texts():
    capability = {"enum": ["critic", "writer"], "type": "string"}
    parameters = {"type": "object", "properties": {"objective": {"type": "string"}, "capability": capability}}
    request = {"tools": [{"type": "function", "function": {"name": "add_task", "parameters": parameters}}]}

    def called(**arguments):
        return meaning(
            ROUTER,
            request,
            a_completion(None, "tool_calls", tool_calls=[tool_call(1, "add_task", **arguments)]),
            FIELDS,
        )

    review = called(objective="Review it.", capability="critic")
    assert review == called(objective="Look again.", capability="critic")
    assert review["decision"] != called(objective="Review it.", capability="writer")["decision"]


def test_a_registry_supervisors_free_text_is_read_for_the_agent_it_names():
    request = {"messages": [{"role": "user", "content": "## Flagged agents"}]}
    found = meaning(ROUTER, request, a_completion('Next:\n```\n{"next_agent": "critic"}\n```'), FIELDS)

    assert found == {"decision": "critic"}


def test_an_agent_nobody_has_told_us_of_is_compared_by_schema_and_confidence():
    form = {"name": "Mine", "schema": {"type": "object", "properties": {"confidence": {"type": "number"}}}}
    request = {"response_format": {"type": "json_schema", "json_schema": form}}

    assert fields_of("mine", request, FIELDS) == ("confidence", "schema")
