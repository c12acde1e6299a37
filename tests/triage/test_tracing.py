"""What of a job can be read where it is traced, with LangSmith's real tracer over HTTP; and nothing else changes."""

import json
import os

import pytest

from tests.builders.at_once import triage_at_once
from tests.builders.dataset import a_codebase, write
from tests.builders.endpoint import a_decision, a_team
from tests.builders.langsmith_server import a_langsmith
from tests.builders.loopback import serving

QUIET = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}


def a_job(folder, team, **environment):
    """`triage run` in a process of its own, which alone knows what is traced."""
    folder.mkdir()
    issue = write(folder / "issue.md", "# It fails\n\nTotals are wrong.\n")
    shop = a_codebase(folder)
    words = ["run", "--issue", str(issue), "--repo", str(shop), "--job-id", "job-1", "--prompt", "v3", "--quiet"]
    with serving(team) as url:
        told = {"PATH": os.environ["PATH"], "TRIAGE_BASE_URL": url, "TRIAGE_CACHE_DIR": str(folder / "cache")}
        job = triage_at_once(*words, cwd=folder, environment=told | environment)
        _, said = job.communicate()
    assert job.returncode == 0, said
    return team


def the_team():
    return a_team("investigator", a_decision("codebase_search", confidence=0.75), "end", "writer")


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """What was asked of the endpoint, and the runs that were traced, in order."""
    with a_langsmith() as service:
        traces = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": service.url, "LANGSMITH_API_KEY": "a key"}
        team = a_job(tmp_path_factory.mktemp("traced") / "job", the_team(), **traces, LANGSMITH_PROJECT="live")
        assert not service.store.refused
        yield team, sorted(service.store.runs.values(), key=lambda run: run["dotted_order"]), service


def supervised(runs):
    return [run["extra"]["metadata"] for run in runs if run["name"] == "supervisor"]


def test_the_trace_is_called_after_the_job_and_tagged_with_what_it_runs_with(traced):
    _, runs, service = traced

    assert runs[0]["name"] == "triage job-1"
    assert {"triage", "llm", "prompt:v3", "guards:hardened"} <= {*runs[0]["tags"]}
    assert runs[0]["extra"]["metadata"]["thread_id"] == "job-1"
    assert runs[0]["extra"]["metadata"]["triage_prompt"] == "v3"
    assert [each["name"] for each in service.store.sessions.values()] == ["default", "live"]


def test_a_visit_of_the_supervisor_says_what_was_decided_and_how_surely(traced):
    told = supervised(traced[1])

    assert [one["decision"] for one in told[:3]] == ["investigator", "codebase_search", "end"]
    assert told[1]["confidence"] == 0.75
    assert [one["iteration"] for one in told[:3]] == [0, 1, 2]


def test_a_veto_is_told_beside_where_it_sent_the_job(traced):
    overruled = supervised(traced[1])[2]

    assert (overruled["decision"], overruled["routed"]) == ("end", "writer")
    assert overruled["vetoes"] == ["report_before_end"]


def test_what_agents_send_is_the_same_traced_or_not(traced, tmp_path):
    team, _, _ = traced
    quiet = a_job(tmp_path / "job", the_team(), **QUIET)

    assert sent(quiet) == sent(team)


def sent(team):
    """Every request as text, in an order of its own: the writer's three go out side by side."""
    return sorted(json.dumps(body, sort_keys=True) for _, body in team.asked)
