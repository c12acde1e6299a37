"""What a report says of itself, a writer that failed, and the exit codes of both."""

import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.state import a_finding, a_state, an_agent_error
from tests.builders.unruly import only, refusing, saying
from triage.job_report import caveats
from triage.state import SupervisorError

LITTLE = ("--max-iterations", "6")
WORKERS = ("investigator", "codebase_search", "critic")
RUBBISH = saying({"choices": [{"index": 0, "message": {"role": "assistant", "content": "I would rather not."}}]})


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


def the_top(desk) -> str:
    return (desk / ".triage/one/report.md").read_text().partition("- **Root cause:**")[0]


def test_a_report_after_all_workers_failed_says_so_at_its_top_and_is_no_success(desk, monkeypatch, capsys):
    route = iter(["investigator", "codebase_search", "critic", "writer"])
    team = only(WORKERS, refusing(500), answering(lambda _: next(route)))
    with triage_at(monkeypatch, team) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW) == 5

    top = the_top(desk)
    assert "No agent found anything" in top
    assert "Nobody looked at the code" in top
    assert "investigator failed once: OpenAIAPIError: Error code: 500" in top
    assert "the report rests on too little: No agent found anything" in capsys.readouterr().err


def test_a_report_that_was_forced_at_the_first_step_says_so_and_is_no_success(desk, monkeypatch):
    with triage_at(monkeypatch, only(["supervisor"], RUBBISH)) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW) == 5

    assert "The supervisor gave no valid decision; the writer was forced after 1 visit." in the_top(desk)
    assert llm.asked.count("investigator") == 1


def test_a_registry_reply_that_cannot_be_read_is_never_a_silent_success(desk, monkeypatch):
    with triage_at(monkeypatch, only(["supervisor"], RUBBISH)) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", "registry") == 5

    assert "The supervisor did not decide on this report: the reply held no JSON object." in the_top(desk)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"findings": [a_finding()]}, [("Nobody looked at the code: no code search was made.", False)]),
        ({"findings": [a_finding(), a_finding("codebase_search")]}, []),
        ({"findings": [a_finding("codebase_search")], "agent_errors": [an_agent_error("codebase_search")]}, []),
        (
            {"findings": [a_finding(), a_finding("codebase_search")], "forced_fallback": True},
            [("The supervisor gave no valid decision; the writer was forced after 0 visits.", True)],
        ),
    ],
)
def test_caveats_follow_from_the_state(state, said):
    assert [(caveat.text, caveat.grave) for caveat in caveats(a_state(**state))] == said


def test_the_gravest_comes_first():
    state = a_state(
        findings=[a_finding()],
        agent_errors=[an_agent_error("critic")],
        supervisor_errors=[SupervisorError(iteration=0, error="it was empty")],
        forced_fallback=True,
    )

    assert [caveat.grave for caveat in caveats(state)] == [True, False, False]


@pytest.mark.parametrize("part", ["writer", "writer-comment", "writer-ticket"])
@pytest.mark.parametrize("supervisor", ["llm", "rules", "plan-fixed"])
def test_a_writer_that_failed_in_part_keeps_the_rest_and_is_asked_again_on_resume(
    supervisor, part, desk, monkeypatch, capsys
):
    with triage_at(monkeypatch, only([part], refusing(500))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--supervisor", supervisor, *LITTLE, typed="No\n") == 4
    folder = desk / ".triage" / "one"
    files = {"writer": "report.md", "writer-comment": "comment.md", "writer-ticket": "ticket.json"}
    assert {name: (folder / file).is_file() for name, file in files.items()} == {name: name != part for name in files}
    assert "was written (" in capsys.readouterr().err

    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", *AGAIN) == 0
    assert (folder / files[part]).is_file()
    assert set(llm.asked) <= {"writer", "writer-comment", "writer-ticket", "critic", "supervisor"}
