"""Thresholds that suites can set can be set live: read from one file, kept by its name, refused in one line."""

import json

import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.endpoint import WORKER_REPLIES
from tests.builders.llm_server import answering


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


def decisions(desk) -> list[dict]:
    return json.loads((desk / ".triage/one/trace.json").read_text())["trace"]["decisions"]


def test_the_bar_of_the_rules_can_be_raised(desk, monkeypatch):
    (desk / "high.yaml").write_text("rules: {low_confidence: 0.99, max_retries: 1}\n")
    sure = {**WORKER_REPLIES["codebase_search"], "confidence": 0.9}
    with triage_at(monkeypatch, answering(codebase_search=sure)) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--supervisor", "rules", "--thresholds", "high.yaml")

    assert "against a bar of 99%" in decisions(desk)[1]["reasoning"]


def test_a_floor_of_confidence_can_be_enforced_and_a_resumed_job_keeps_it(desk, monkeypatch):
    (desk / "floor.yaml").write_text("confidence_floor: {single: 1.0, corroborated: 1.0}\n")
    stops = iter(["investigator", "human_input", "writer"])
    with triage_at(monkeypatch, answering(lambda _: next(stops, "writer"))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--thresholds", "floor.yaml", "--max-iterations", "4") == 4
        triage("run", *AGAIN, "--answer", "MySQL")

    assert "confidence_floor" in [each["rule"] for decision in decisions(desk) for each in decision["overrides"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: {low_confidence: 2}", "rules.low_confidence: Input should be less than or equal to 1"),
        ("rules: {low: 0.5}", "rules.low: Extra inputs are not permitted"),
        ("rules: {min_score: 0.1}", "rules: low_confidence 0.65 with min_score 0.10 lets weak matches sound sure"),
        ("rules: {low_confidence: 0.7}", "`rules` are thresholds of supervisor 'rules': take them out"),
        ("a: [", "not YAML"),
        (None, "cannot be read; name a YAML file"),
    ],
)
def test_thresholds_that_do_not_hold_are_one_line(text, said, desk, monkeypatch, capsys):
    if text is not None:
        (desk / "t.yaml").write_text(text)
    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", "--repo", "shop", *NEW, "--thresholds", "t.yaml") == 2

    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1
    assert llm.asked == []
