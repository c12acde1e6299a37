"""A schema is written once, is pydantic's own, and may be changed by whoever asked for it."""

import pytest
from pydantic import BaseModel, Field
from pydantic.json_schema import model_json_schema

from triage.agents.codebase_search import CodebaseAnswer
from triage.agents.critic import CriticOutput
from triage.agents.investigator import InvestigatorOutput
from triage.agents.web_search import WebSearchOutput
from triage.agents.writer import ReportDraft
from triage.findings import Form
from triage.supervisors.llm_supervisor import SupervisorDecision
from triage.supervisors.plan.plan_supervisor import PlanDecision
from triage.supervisors.plan.plan_tools import OneTask


class Plain(BaseModel):
    """Said to the model."""

    name: str = Field(alias="called", ge="a")
    parts: "list[Plain] | None" = None


class Asked(Form):
    """Said to the model."""

    name: str = Field(alias="called", ge="a")
    parts: "list[Asked] | None" = None


def test_it_is_the_schema_of_the_same_model_without_it():
    for options in ({}, {"by_alias": False}, {"mode": "serialization"}, {"ref_template": "#/x/{model}"}):
        said = str(Asked.model_json_schema(**options)).replace("Asked", "Plain")
        assert said == str(Plain.model_json_schema(**options))


def test_it_is_asked_of_pydantic_once(monkeypatch):
    class Once(Form):
        word: str

    Once.model_json_schema()
    monkeypatch.setattr(BaseModel, "model_json_schema", lambda *_, **__: {})

    assert Once.model_json_schema()["title"] == "Once"


def test_what_a_caller_does_to_it_the_next_one_does_not_see():
    Asked.model_json_schema()["$defs"].clear()

    assert Asked.model_json_schema()["$defs"]


@pytest.mark.parametrize(
    "form",
    [
        InvestigatorOutput,
        CodebaseAnswer,
        WebSearchOutput,
        CriticOutput,
        ReportDraft,
        SupervisorDecision,
        PlanDecision,
        OneTask,
    ],
)
def test_what_agents_supervisors_and_tools_ask_for_is_one(form):
    assert issubclass(form, Form)
    assert form.model_json_schema() == model_json_schema(form)
