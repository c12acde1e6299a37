"""trace.json: a live job in the words of the run format, over all its sittings, however each of them ended."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evals.models.trace import Trace
from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.unruly import only, refusing
from triage.supervisors import SUPERVISORS

ROUTE = ("investigator", "web_search", "codebase_search", "critic", "writer")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


def written(desk: Path) -> dict:
    return json.loads((desk / ".triage/one/trace.json").read_text())


def read(desk: Path) -> Trace:
    return Trace.model_validate(written(desk)["trace"])


@pytest.mark.parametrize("supervisor", SUPERVISORS)
def test_a_job_leaves_a_trace_that_evals_can_read(supervisor, desk, monkeypatch):
    with triage_at(monkeypatch) as (triage, llm):
        triage("run", "--repo", "shop", *NEW, "--supervisor", supervisor, "--answer", "I do not know.")

    trace = read(desk)
    assert trace.walked[0] == "investigator"
    assert "writer" in trace.walked
    assert [len(trace.calls), trace.provenance.label] == [len(llm.asked), "exact"]
    assert trace.output["root_cause"] == "Quantities are overwritten."
    assert (trace.plan is not None) == supervisor.startswith("plan-")


def test_the_trace_says_what_the_supervisor_saw_chose_and_was_overruled_by(desk, monkeypatch):
    stops = iter(["codebase_search", *ROUTE[1:]])
    with triage_at(monkeypatch, answering(lambda _: next(stops))) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    first, second = read(desk).decisions[:2]
    assert (first.chosen, first.routed, first.overrides[0].rule) == (
        "codebase_search",
        "investigator",
        "investigator_first",
    )
    assert "No findings yet." in first.context
    assert "Quantities are overwritten." in second.context


def test_a_code_search_names_what_it_has_read(desk, monkeypatch):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    assert read(desk).visits[1].read == ("cart.py::add",)
    assert read(desk).visits[1].places == ("cart.py:1-2",)


def test_a_job_in_two_sittings_has_one_trace(desk, monkeypatch):
    with triage_at(monkeypatch, only(["critic", "supervisor"], refusing(500))) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW) == 3
        assert "stopped before supervisor" in str(read(desk).error)
        llm.answer = answering()
        assert triage("run", *AGAIN) == 0
        answered = len(llm.asked) - 3  # one supervisor, asked three times in vain

    trace = read(desk)
    assert trace.route == ("investigator", "codebase_search", "critic", "writer")
    assert len(trace.calls) == answered
    assert written(desk)["took"]["tokens_in"] == answered


def test_a_failed_visit_is_in_the_trace_with_its_reason(desk, monkeypatch):
    with triage_at(monkeypatch, only(["critic"], refusing(500))) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    failed = next(visit for visit in read(desk).visits if visit.node == "critic")
    assert str(failed.error).startswith("OpenAIAPIError")


def test_the_reasons_of_the_rules_stand_beside_the_trace(desk, monkeypatch):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--supervisor", "rules")

    told = written(desk)["rules"]
    assert [event["decision"] for event in told["decision_events"]][:2] == ["first_run", "first_run"]


def test_what_a_plan_is_for_stands_in_trace_and_report(desk, monkeypatch):
    plan = "objective: Find who overwrites carts.\nnotes: Marta knows the cart.\ntasks:\n  - task_id: 1\n"
    (desk / "mine.yaml").write_text(f"{plan}    objective: Write.\n    capability: writer\n    is_final: true\n")
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--supervisor", "plan-fixed", "--plan", "mine.yaml")

    wanted = {"objective": "Find who overwrites carts.", "notes": "Marta knows the cart."}
    wanted |= {"metadata": {}, "task_metadata": {}}
    assert written(desk)["plan"] == wanted
    assert json.loads((desk / ".triage/one/report.json").read_text())["plan"] == wanted


def test_a_deleted_job_leaves_none_of_its_calls(desk, monkeypatch):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW)
        triage("jobs", "delete", "one")
        triage("run", "--repo", "shop", *NEW)
        assert len(read(desk).calls) * 2 == len(_.asked)


@pytest.mark.parametrize(
    ("model", "said"),
    [("gpt-4o", "0.0001 USD (prices of 20"), ("m", "price unknown (m is not in the table)")],
)
def test_a_sitting_ends_with_its_price(model, said, desk, monkeypatch, capsys):
    def named(agent, body):
        status, kind, content = answering()(agent, body)
        return status, kind, content.replace(b'"model": "m"', f'"model": "{model}"'.encode())

    with triage_at(monkeypatch, named) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    assert said in capsys.readouterr().err


def test_the_traffic_is_kept_where_it_is_asked_for_and_holds_no_key(desk, monkeypatch):
    monkeypatch.setenv("TRIAGE_API_KEY", "key-of-the-test")
    with triage_at(monkeypatch, answering(route=ROUTE)) as (triage, llm):
        triage("run", "--repo", "shop", *NEW, "--record")

    kept = traffic_in(desk)
    assert len(kept) == len(llm.asked) + len(llm.searched)
    assert "key-of-the-test" not in (desk / ".triage/jobs.sqlite").read_bytes().decode("latin-1")


def traffic_in(desk: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(desk / ".triage/jobs.sqlite")) as jobs:
        return jobs.execute("select agent from triage_traffic").fetchall()
