"""The context message: exactly what the supervisor is told, and nothing that depends on anything else."""

from tests.builders.state import a_finding, a_rejection, a_state
from triage.prompts.load import load_supervisor_prompt
from triage.supervisor_context import critic, supervisor_context

V2 = load_supervisor_prompt("v2")


def test_an_untouched_job_reads_as_empty_sections_and_the_task():
    state = a_state()

    assert supervisor_context(state, V2) == (
        "## Current state\n"
        "Iteration: 0 / 10\n"
        "Questions asked so far: 0 / 2\n\n"
        "## Findings so far\n"
        "No findings yet.\n\n"
        "## Human exchanges so far\n"
        "None.\n\n"
        f"{V2.task}"
    )


def test_a_prompt_may_ask_for_the_title_and_gets_300_characters_of_it():
    shown = supervisor_context(a_state(issue_title="t" * 400), load_supervisor_prompt("v6"))

    assert f"## Issue\n{'t' * 300}\n\n## Current state" in shown


def test_redirects_come_first_under_one_header():
    state = a_state(redirect_instructions=["Look at the cache", "Ask nothing"])

    assert supervisor_context(state, V2).startswith(
        "## Active redirect instructions (follow these above all else)\n1. Look at the cache\n2. Ask nothing\n\n## Cur"
    )


def test_a_verdict_shows_gaps_and_the_evidence_asked_for():
    verdict = a_rejection(gaps=("no test", "no line"), required_evidence=())

    assert critic(verdict) == "REJECTED (confidence: 30%)\nGaps: no test; no line\nRequired evidence: none"


def test_braces_in_the_state_are_left_alone():
    state = a_state(findings=[a_finding(details='{"single": {single}}')])

    assert 'Details: {"single": {single}}' in supervisor_context(state, V2)
