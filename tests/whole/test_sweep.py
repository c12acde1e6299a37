"""A sweep over a recorded checkout: exact where a setting was recorded, and never a trial more than needed."""

import json
import os
import shutil
import signal
import time

import pytest

from evals.cassettes.cassette_files import load
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected
from evals.runner.case_task import CaseTask
from evals.triage.sweep.sweep_run import asked, at, execute, grid, rulings, stage
from tests.builders.at_once import evals_at_once
from tests.builders.checkout import a_suite, cassettes, evals
from tests.builders.llm_server import an_llm_server, answering, next_stop
from tests.builders.processes import workers_of
from tests.builders.sweep import a_point

pytestmark = pytest.mark.slow

HIGH = {"single": 0.9, "corroborated": 0.7, "min_findings": 2}
VARIANTS = [{"name": "old", "prompt": "v2"}, {"name": "new", "prompt": "v2", "confidence_floor": HIGH}]
GRID = ("--single", "0.6:0.9:0.1", "--corroborated", "0.6:0.9:0.1", "--min-findings", "1,2,3")


@pytest.fixture(scope="module")
def swept(story, tmp_path_factory):
    """A checkout whose supervisor, 0.7 sure throughout, wants to write after one finding. Recorded are no floor, and
    one that asks for a second finding; what a floor would do that two findings cannot satisfy is not."""
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("swept") / "checkout")
    labels = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "case.yaml"
    labels.write_text(labels.read_text().replace("split: tune", "split: gate"))
    a_suite(checkout, variants=VARIANTS)
    with an_llm_server(answering(hasty, confidence=0.7)) as llm:
        for name in cassettes(checkout):
            (checkout / "cassettes" / name).unlink()
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
    return checkout


def hasty(context):
    return next_stop(context, ("investigator", "writer"))


def a_worker_of(process):
    """The first worker process it starts."""
    while process.poll() is None:
        if found := workers_of(process.pid):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(process.communicate())


def explored(checkout, points):
    """Every case under the points, no trial taken from a cache."""
    chosen = selected("tiny.yaml", checkout, Options())
    cases = execute(chosen.cases, chosen.variants[0], points, chosen.workspace, jobs=1, progress=lambda done: None)
    return chosen, cases


def test_what_points_share_is_what_each_of_them_gives_when_run(swept, monkeypatch):
    """The claim the whole sweep rests on: every point of the grid, run by itself, gives the trace it was handed."""
    monkeypatch.chdir(swept)
    points = grid(a_point(), (0.6, 0.7, 0.8, 0.9), (0.6, 0.7, 0.8), (1, 2), ("hardened", "prd"))
    chosen, cases = explored(swept, points)

    for case, done in zip(chosen.cases, cases, strict=True):
        place = chosen.workspace
        cassette = place.cassette(case.id)
        task = CaseTask(case, (), 0, cassette, place.datasets, place.cache, place.vectors)
        with stage(task, load(cassette)) as trace_of:
            for number, point in enumerate(points):
                alone = trace_of(at(chosen.variants[0].variant, point))
                shared = done.traces[done.which[number]].model_copy(update={"variant": alone.variant})
                assert alone.model_dump_json() == shared.model_dump_json(), point.name
        assert len(done.traces) < len(points) / 3


def test_what_a_floor_is_said_to_rule_is_what_it_ruled(swept, monkeypatch):
    """Rulings are made anew from the trace alone; the graph's own vetoes are the measure."""
    monkeypatch.chdir(swept)
    high = a_point(0.9, 0.7)
    chosen, cases = explored(swept, (high,))
    trace = cases[0].traces[0]

    told = rulings(asked(chosen.cases[0], trace), high.floor)[: len(trace.decisions)]

    ruled = [
        each.send_to for decision in trace.decisions for each in decision.overrides if each.rule == "confidence_floor"
    ]
    assert [name for name in told if name] == ruled != []


def test_a_sweep_recommends_and_says_what_it_rests_on(swept):
    said = evals(swept, "sweep", "tiny.yaml", "--variant", "old", *GRID)

    result = json.loads((swept / "reports" / "sweep" / "sweep.json").read_text())
    assert said.code == 0
    assert result["recommendation"]["sentence"] in said.out
    assert {tuple(one["splits"]) for one in result["behaviours"]} == {("gate", "tune")}
    assert result["executed"] < result["points"] * 2
    assert (swept / "reports" / "sweep" / "index.html").read_text().startswith("<!doctype html>")


def test_a_second_sweep_says_the_same_to_the_byte(swept):
    evals(swept, "sweep", "tiny.yaml", *GRID, "--out", "one")
    evals(swept, "sweep", "tiny.yaml", *GRID, "--out", "two")

    for name in ("sweep.json", "index.html"):
        assert (swept / "one" / name).read_bytes() == (swept / "two" / name).read_bytes()


def test_a_worker_that_is_killed_changes_nothing_of_the_result(swept):
    """A real process, killed as the kernel does where memory is used up: its points are tried again."""
    evals(swept, "sweep", "tiny.yaml", *GRID, "--out", "whole")
    shutil.rmtree(swept / ".cache" / "trials")
    process = evals_at_once(swept, "sweep", "tiny.yaml", *GRID, "--jobs", "2", "--out", "killed")

    os.kill(a_worker_of(process), signal.SIGKILL)
    out, err = process.communicate(timeout=400)

    assert err == "", out
    for name in ("sweep.json", "index.html"):
        assert (swept / "killed" / name).read_bytes() == (swept / "whole" / name).read_bytes()


def test_a_guard_set_off_the_tape_is_never_on_the_front(swept):
    said = evals(swept, "sweep", "tiny.yaml", "--variant", "old", "--guards", "none", *GRID)
    result = json.loads((swept / "reports" / "sweep" / "sweep.json").read_text())
    without = [one for one in result["behaviours"] if one["name"].startswith("none")]

    assert said.code == 3  # what is left is no choice
    assert without
    assert all(one["splits"]["tune"]["coverage"]["exact"] == 0 for one in without)
    assert not any(one["name"] in result["front"] for one in without)


WRONG = {
    "range": (("--single", "0.9:0.5:0.1"), "write FROM:TO:STEP"),
    "guards": (("--guards", "nosuch"), "no guard set is called 'nosuch'"),
    "score": (("--score", "cost.tokens"), "choose one of"),
    "variant": (("--variant", "nosuch"), "no variant nosuch"),
}


@pytest.mark.parametrize(("words", "cause"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_two_and_one_line(swept, words, cause):
    said = evals(swept, "sweep", "tiny.yaml", *words)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert cause in said.err
