"""What a report says of its limits: which of them are grave, where they are told, and the exit code that follows."""

import json

import pytest

from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.llm_server import answering
from tests.builders.state import a_finding, a_rejection, a_report, a_state, an_exchange
from triage.job_report import caveats
from triage.state import ConfidenceFloor, DecisionEvent, RetryReason, TaskItem

CHALLENGED = {**WORKER_REPLIES["critic"], "verdict": "CHALLENGED", "gaps": ["no line named"], "ready_for_report": False}
GUESS = {
    **WORKER_REPLIES["codebase_search"],
    "confidence": 0.3,
    "relevant_files": [{"path": "cart.py", "relevance_reason": "r"}],
    "root_cause_location": "cart.py::add",
}
FOUND = [a_finding(), a_finding("codebase_search")]
DECIDED = {"routed_node": "writer", "supervisor_confidence": 0.9}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


JOBS = {
    "rejected at the iteration limit": (
        answering(critic=CHALLENGED),
        ("--max-iterations", "3"),
        "The critic rejected the findings (CHALLENGED), and nothing has answered it: no line named.",
    ),
    "retries spent": (
        answering(critic=CHALLENGED, codebase_search=GUESS),
        ("--supervisor", "rules", "--answer", "I do not know."),
        "2 retries and a question did not settle the doubts (low confidence): the confidence is 30%.",
    ),
    "plan failed": (
        answering(critic=CHALLENGED),
        ("--supervisor", "plan-fixed"),
        (
            "The plan was not carried out: task 1 (investigator) failed its review: no line named; "
            "task 2 (codebase_search), task 3 (writer) never ran."
        ),
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_report_that_rests_on_too_little_says_so_everywhere(name, desk, monkeypatch, capsys):
    team, arguments, said = JOBS[name]
    with triage_at(monkeypatch, team) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, *arguments) == 5
        assert triage("jobs") == 0

    told, folder = capsys.readouterr(), desk / ".triage/one"
    assert "the report rests on too little: " in told.err
    assert "report written, on too little" in told.out
    assert said in (folder / "report.md").read_text().partition("- **Root cause:**")[0]
    assert (folder / "comment.md").read_text().startswith("> **Limits of this report**")
    assert said in (folder / "comment.md").read_text().partition("## Triage")[0]
    assert {"text": said, "grave": True} in json.loads((folder / "report.json").read_text())["caveats"]


def test_the_report_for_programs_holds_what_the_caveats_rest_on(desk, monkeypatch):
    with triage_at(monkeypatch, answering(critic=CHALLENGED)) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--max-iterations", "3")

    report = json.loads((desk / ".triage/one/report.json").read_text())
    verdict = report["critic_feedback"]
    assert (verdict["verdict"], verdict["review"], verdict["gaps"]) == ("REJECTED", "CHALLENGED", ["no line named"])
    assert report["supervisor_confidence"] == 0.7
    assert [found["agent_name"] for found in report["findings"]] == [*report["visits"]]
    assert report["error_messages"] == []


def test_the_thresholds_of_the_job_say_how_sure_a_report_has_to_be(desk, monkeypatch):
    (desk / "low.yaml").write_text("confidence_floor: {single: 0.3, corroborated: 0.3, min_findings: 1}\n")
    team = answering(confidence=0.4)
    with triage_at(monkeypatch, team) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW) == 5
        low = ("--job-id", "two", "--thresholds", "low.yaml")
        assert triage("run", "--repo", "shop", "--issue", "issue.md", *low) == 0


def after_the_critic(*later, answers=0, **fields):
    """A job whose critic rejected the first two findings, with the findings and answers that came later."""
    findings = [*FOUND, a_finding("critic"), *later, a_finding("writer")]
    return a_state(
        findings=findings,
        human_exchanges=[an_exchange()] * answers,
        critic_feedback=a_rejection(evidence_seen=3, review="UNCERTAIN"),
        **DECIDED,
        **fields,
    )


@pytest.mark.parametrize(
    ("state", "grave"),
    [
        (after_the_critic(), [True]),
        (after_the_critic(a_finding("investigator")), [True]),
        (after_the_critic(a_finding("codebase_search")), [False]),
        (after_the_critic(a_finding("web_search")), [False]),
        (after_the_critic(answers=1), [False]),
    ],
    ids=["nothing", "the investigator alone", "a code search", "a web search", "an answer"],
)
def test_a_rejection_is_answered_by_a_search_or_the_user_and_is_told_all_the_same(state, grave):
    assert [caveat.grave for caveat in caveats(state)] == grave


def test_an_answer_from_before_the_review_answers_no_rejection():
    state = a_state(
        findings=[*FOUND, a_finding("critic"), a_finding("writer")],
        human_exchanges=[an_exchange()],
        critic_feedback=a_rejection(evidence_seen=4),
        **DECIDED,
    )

    assert [caveat.grave for caveat in caveats(state)] == [True]


@pytest.mark.parametrize(
    ("confidence", "findings", "grave"),
    [(0.70, FOUND, []), (0.69, FOUND, [True]), (0.85, FOUND[1:], []), (0.84, FOUND[1:], [True])],
)
def test_a_supervisor_has_to_be_as_sure_as_its_prompt_asks(confidence, findings, grave):
    state = a_state(findings=findings, routed_node="writer", supervisor_confidence=confidence)

    assert [caveat.grave for caveat in caveats(state)] == grave
    assert caveats(state, ConfidenceFloor(single=0.1, corroborated=0.1)) == ()


def ruled(reason, decision="finalize", **fields):
    """A job of the `rules` supervisor whose last decision was this."""
    event = DecisionEvent(decision=decision, confidence=0.66, retry_count=1, reason=reason)
    return a_state(findings=FOUND, routed_node="writer", supervisor_confidence=0.66, decision_events=[event], **fields)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (ruled("no_issue"), []),
        (ruled("all_means_spent"), ["1 retry and a question did not settle the doubts: the confidence is 66%."]),
        (
            ruled("citation_issue", "retry"),
            ["A doubt was left when the report was written (citation issue): the confidence is 66%."],
        ),
    ],
)
def test_the_rules_are_judged_by_their_own_bar(state, said):
    assert [caveat.text for caveat in caveats(state)] == said


def planned(*statuses, **fields):
    """A job whose plan of an investigation, a search and a report was left like this."""
    names = ("investigator", "codebase_search", "writer")
    tasks = [
        TaskItem(task_id=n, objective="o", capability=name, status=status, is_final=name == "writer")
        for n, (name, status) in enumerate(zip(names, statuses, strict=True), 1)
    ]
    return a_state(findings=FOUND, plan=tasks, report=a_report(), **DECIDED, **fields)


@pytest.mark.parametrize(
    ("statuses", "grave"),
    [
        (("COMPLETED", "COMPLETED", "COMPLETED"), []),
        (("COMPLETED", "CANCELLED", "COMPLETED"), []),
        (("COMPLETED", "FAILED", "COMPLETED"), [False]),
        (("COMPLETED", "COMPLETED", "NEEDS_REVIEW"), [False]),
        (("COMPLETED", "COMPLETED", "ERRORED"), [False]),
        (("COMPLETED", "COMPLETED", "FAILED"), [True]),
        (("COMPLETED", "ERRORED", "READY"), [True]),
        (("COMPLETED", "READY", "READY"), [True]),
    ],
)
def test_a_plan_has_to_come_to_its_final_task(statuses, grave):
    assert [caveat.grave for caveat in caveats(planned(*statuses))] == grave


def test_a_retry_is_looked_up_by_its_reason_or_by_what_held_beside_it(desk, monkeypatch, capsys):
    cites = {**GUESS, "confidence": 0.9, "root_cause_location": "shop/invented.py::add", "relevant_files": []}
    with triage_at(monkeypatch, answering(codebase_search=cites)) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--supervisor", "rules")
        triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", "two")
        capsys.readouterr()
        found = [_listed(triage, capsys, reason) for reason in ("citation_issue", "over_compression", "hallucination")]
        assert triage("jobs", "--retried-for", "weather") == 2

    assert [line.split()[0] for line in found[0]] == ["one", "one"]
    assert "retry 1: citation_issue, confidence 90%" in found[0][0]
    assert found[1] == found[0]  # nothing that was read stands behind the file that is named
    assert found[2] == ["no job in .triage/jobs.sqlite repeated a search for hallucination"]
    assert "--retried-for weather: choose one of nothing_retrieved, " in capsys.readouterr().err


def _listed(triage, capsys, reason):
    assert triage("jobs", "--retried-for", reason) == 0
    return capsys.readouterr().out.splitlines()


def test_a_retry_from_before_over_compression_was_told_is_still_read():
    old = {
        "iteration": 1,
        "confidence": 0.5,
        "reason": "low_confidence",
        "citation_issue": False,
        "hallucination": True,
    }

    assert not RetryReason.model_validate(old).over_compression
