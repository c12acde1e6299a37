"""What the registry supervisor is told: names of data, not the data; who was called; who is flagged."""

from tests.builders.state import a_state
from triage.prompts.load import load_supervisor_prompt
from triage.supervisors.agent_registry_supervisor import message

PROMPT = load_supervisor_prompt("v4")


def told(**fields) -> str:
    return message(a_state(**fields), PROMPT)


def test_a_fresh_job_has_an_issue_and_nothing_else():
    text = told()

    assert 'Available data: ["issue"]' in text
    assert "Last agents called: []" in text
    assert "Calls so far: {}" in text
    assert "## Flagged agents\nnone" in text


def test_the_last_five_calls_are_listed_and_all_are_counted():
    text = told(visits=["investigator", "codebase_search", "web_search", "critic", "codebase_search", "critic"])

    assert 'Last agents called: ["codebase_search", "web_search", "critic", "codebase_search", "critic"]' in text
    assert 'Calls so far: {"investigator": 1, "codebase_search": 2, "web_search": 1, "critic": 2}' in text


def test_orders_of_the_operator_come_first_and_only_if_there_are_any():
    assert "Orders of the operator" not in told()
    assert told(redirect_instructions=["Be quick"]).index("1. Be quick") < told().index("## Current state") + 80
