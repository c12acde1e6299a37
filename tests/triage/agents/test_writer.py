import json

import pytest

from tests.builders.endpoint import WORKER_REPLIES, a_team, a_toolbox
from tests.builders.state import a_state
from triage.agents.agent import worker_node
from triage.agents.writer import WRITER, ReportDraft, comment_of, merge, ticket_of
from triage.state import WriterDraft

REPORT = ReportDraft.model_validate(WORKER_REPLIES["writer"])


def a_ticket(**fields) -> str:
    return json.dumps({"title": "Fix the cart", "labels": ["bug"], "assignee": "ada", "effort": "L", **fields})


async def written(team, **state):
    return await WRITER.chain(a_toolbox(team)).ainvoke(WRITER.read(a_state(**state)))


async def test_three_requests_make_the_report_the_comment_and_the_ticket():
    output = await written(a_team())

    assert output.report.root_cause == "Quantities are overwritten."
    assert output.github_comment_markdown.startswith("## Triage")
    assert output.ticket.title == "Cart loses quantities"


async def test_a_rate_limited_comment_does_not_repeat_report_and_ticket():
    team = a_team(**{"writer-comment": [429, 429, "A comment."]})

    await written(team)

    assert [team.count(part) for part in ("writer", "writer-comment", "writer-ticket")] == [1, 3, 1]


def test_the_reports_confidence_is_the_systems():
    assert merge(REPORT, "text", ticket_of(a_ticket())).confidence == REPORT.confidence


def test_an_empty_comment_is_an_error():
    with pytest.raises(ValueError, match="comment is empty"):
        comment_of(" \n")


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '"title"', '{"labels": []}'])
def test_what_is_no_ticket_is_an_error(text):
    with pytest.raises(ValueError, match=r"title|Expecting value"):
        ticket_of(text)


@pytest.mark.parametrize(("given", "kept"), [(None, ""), ("", ""), ("ada", "ada")])
def test_a_ticket_for_nobody_has_an_empty_assignee(given, kept):
    assert ticket_of(a_ticket(assignee=given)).assignee == kept


@pytest.mark.parametrize(("given", "kept"), [(None, "M"), ("huge", "M"), ("xl", "XL"), ("S", "S")])
def test_an_effort_that_is_missing_or_unknown_is_m(given, kept):
    assert ticket_of(a_ticket(effort=given)).effort == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("bug, csv", ("bug", "csv")),
        ("bug", ("bug",)),
        (["bug", " csv "], ("bug", "csv")),
        (["bug", None], ("bug",)),
        (7, ()),
    ],
)
def test_labels_may_stand_in_one_text(given, kept):
    assert ticket_of(a_ticket(labels=given)).labels == kept


async def test_what_succeeded_is_kept_as_a_draft_of_a_failed_visit():
    update = await worker_node(WRITER, a_toolbox(a_team(**{"writer-ticket": [500]})))(a_state())

    assert update["draft"].report.root_cause == "Quantities are overwritten."
    assert update["draft"].comment.startswith("## Triage")
    assert "no ticket (OpenAIAPIError: Error code: 500" in update["agent_errors"][0].error
    assert "report" not in update


async def test_a_second_try_that_brings_other_texts_completes_no_draft_but_loses_none():
    before = a_state(draft=WriterDraft(comment="Kept."))
    update = await worker_node(WRITER, a_toolbox(a_team(**{"writer-comment": [500]})))(before)

    assert (update["draft"].comment, update["draft"].ticket.title) == ("Kept.", "Cart loses quantities")
