"""The web search as `triage run` runs it: inside a job with checkpoints, under every supervisor."""

import asyncio
from pathlib import Path

import pytest

from tests.builders.desk import NEW, a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.llm_server import ROUTE, answering
from triage.checkpoints import open_jobs
from triage.state import BugTriageState
from triage.supervisors import SUPERVISORS

PLACELESS = {**WORKER_REPLIES["codebase_search"], "confidence": 0.1, "root_cause_location": None}
"""The rules search the web only where the code names no place."""
OUTSIDE = {**WORKER_REPLIES["web_search"], "confidence": 0.9, "external_root_cause": "A known bug."}
ARGUMENTS = {"plan-fixed": ("--plan", "fan-out"), "plan-hybrid": ("--plan", "fan-out")}


async def kept(job: str = "one") -> BugTriageState:
    async with open_jobs(Path(".triage/jobs.sqlite")) as jobs:
        found = await jobs.aget_tuple({"configurable": {"thread_id": job}})
    values = found.checkpoint["channel_values"]
    return BugTriageState.model_validate({n: v for n, v in values.items() if n in BugTriageState.model_fields})


@pytest.mark.parametrize("supervisor", SUPERVISORS)
def test_the_model_searches_the_web_in_a_job_with_checkpoints(supervisor, tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    more = {"codebase_search": PLACELESS, "web_search": OUTSIDE} if supervisor == "rules" else {}
    team = answering(route=("investigator", "web_search", *ROUTE[1:]), **more)
    with triage_at(monkeypatch, team) as (triage, llm):
        code = triage("run", "--repo", "shop", *NEW, "--supervisor", supervisor, *ARGUMENTS.get(supervisor, ()))

    job = asyncio.run(kept())
    assert code == 0
    assert llm.searched[0] == "carts"
    assert job.agent_errors == []
    assert job.pages_read == ["https://docs.invalid/0"]


def test_a_visit_whose_searches_all_fail_is_no_success(tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    stops = iter(["investigator", "web_search", "codebase_search"])
    with triage_at(monkeypatch, answering(lambda _: next(stops, "writer"))) as (triage, llm):
        monkeypatch.setenv("TRIAGE_TAVILY_BASE_URL", "http://127.0.0.1:9")  # the discard port: nobody listens there
        assert triage("run", "--repo", "shop", *NEW) == 0

    [failure] = asyncio.run(kept()).agent_errors
    assert failure.error == "ToolException: no search came to anything: The search failed (ConnectError)."
    assert llm.asked.count("web_search") == 1  # whatever it concluded would read like a finding
    assert "web_search failed once" in (tmp_path / ".triage/one/report.md").read_text()
