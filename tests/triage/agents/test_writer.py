import json

import pytest

from tests.builders.endpoint import WORKER_REPLIES, a_team, a_toolbox
from tests.builders.state import a_finding, a_state, an_exchange
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


async def test_the_ticket_is_asked_for_in_json_mode():
    team = a_team()
    await written(team)

    body = next(body for part, body in team.asked if part == "writer-ticket")
    assert body["response_format"] == {"type": "json_object"}
    assert "JSON" in body["messages"][0]["content"], "JSON mode refuses a prompt that does not mention it"


async def test_the_report_is_written_from_findings_and_answers():
    team = a_team()
    await written(team, findings=[a_finding()], human_exchanges=[an_exchange("MySQL")], repository="example/shop")

    prompt = team.messages("writer")[1]
    assert "[1] investigator" in prompt
    assert "A: MySQL" in prompt
    assert "example/shop" in prompt


def test_the_reports_confidence_is_the_systems():
    assert merge(REPORT, "text", ticket_of(a_ticket())).confidence == REPORT.confidence


def test_an_empty_comment_is_an_error():
    with pytest.raises(ValueError, match="comment is empty"):
        comment_of(" \n")


@pytest.mark.parametrize("title", [None, "", "  "])
def test_a_ticket_without_a_title_is_an_error(title):
    with pytest.raises(ValueError, match="ticket has no title"):
        ticket_of(a_ticket(title=title))


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


def test_of_several_assignees_the_first_is_kept():
    assert ticket_of(a_ticket(assignee=["ada", "bob"])).assignee == "ada"


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


def test_a_ticket_may_lack_all_but_its_title():
    ticket = ticket_of('{"title": "Fix the cart"}')

    assert (ticket.labels, ticket.assignee, ticket.effort) == ((), "", "M")


def test_the_state_gets_all_three_and_the_finding_names_no_files():
    output = merge(REPORT, "text", ticket_of(a_ticket()))

    update = WRITER.update(a_state(), output)
    assert (update["report"], update["comment"], update["ticket"]) == (output.report, "text", output.ticket)
    assert WRITER.finding(output).relevant_files == ()
