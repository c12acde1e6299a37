"""The context message: exactly what the supervisor is told, and nothing that depends on anything else."""

from tests.builders.state import a_finding, a_rejection, a_state, an_exchange
from triage.context_message import critic, exchanges, findings, redirects, supervisor_context
from triage.prompts.load import load_supervisor_prompt

V2 = load_supervisor_prompt("v2")
V3 = load_supervisor_prompt("v3")


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


def test_a_finding_is_four_lines():
    found = [a_finding("codebase_search", confidence=0.755)]

    assert findings(found) == (
        "[1] codebase_search (confidence: 76%)\n"
        "Summary: Quantities are lost\n"
        "Details: The cart keeps one line per product.\n"
        "Relevant files: shop/cart.py"
    )


def test_findings_are_numbered_and_stand_apart_by_a_blank_line():
    found = [a_finding(), a_finding("critic", relevant_files=())]

    assert "Relevant files: shop/cart.py\n\n[2] critic" in findings(found)
    assert findings(found).endswith("Relevant files: none")


def test_several_files_are_joined_by_commas():
    found = [a_finding(relevant_files=("a.py", "b.py"))]

    assert findings(found).endswith("Relevant files: a.py, b.py")


def test_a_pending_question_is_shown_as_awaiting_after_the_answered_ones():
    answered, pending = an_exchange("MySQL"), an_exchange(None, question="Which version?", context="")

    assert exchanges([answered], pending) == (
        "Q: Which database?\nContext: Two are supported.\nA: MySQL\n\n"
        "Q: Which version?\nContext: \nA: (awaiting answer)"
    )


def test_an_empty_answer_is_an_answer():
    """Somebody who presses return has answered; only None waits."""
    assert exchanges([an_exchange("")], None).endswith("A: ")


def test_only_answered_questions_count():
    state = a_state(human_exchanges=[an_exchange()], pending_exchange=an_exchange(None))

    assert "Questions asked so far: 1 / 2" in supervisor_context(state, V2)


def test_redirects_come_first_under_one_header():
    state = a_state(redirect_instructions=["Look at the cache", "Ask nothing"])

    assert supervisor_context(state, V2).startswith(
        "## Active redirect instructions (follow these above all else)\n1. Look at the cache\n2. Ask nothing\n\n## Cur"
    )


def test_without_redirects_their_header_is_gone_too():
    assert redirects([]) == ""


def test_only_a_version_that_asks_for_it_sees_the_critic():
    state = a_state(critic_feedback=a_rejection())

    assert "no line named" not in supervisor_context(state, V2)
    assert "no line named" in supervisor_context(state, V3)


def test_a_verdict_shows_gaps_and_the_evidence_asked_for():
    verdict = a_rejection(gaps=("no test", "no line"), required_evidence=())

    assert critic(verdict) == "REJECTED (confidence: 30%)\nGaps: no test; no line\nRequired evidence: none"


def test_the_task_comes_last():
    state = a_state(findings=[a_finding()], critic_feedback=a_rejection())

    assert supervisor_context(state, V3).endswith(V3.task)


def test_braces_in_the_state_are_left_alone():
    state = a_state(findings=[a_finding(details='{"single": {single}}')])

    assert 'Details: {"single": {single}}' in supervisor_context(state, V2)
