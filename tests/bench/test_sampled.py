"""The floor of a line that is not met: where the time went, by package."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evals import content_cache as kept
from tests.bench import performance, sampled
from tests.bench.line import Line

MISSED = Line("a report", "≤ 4 s", "5 s", met=False, floor=" 60%  langgraph")


@pytest.mark.parametrize(
    ("file", "package"),
    [
        (json.__file__, "python: json"),
        ("/somewhere/python3.11/site-packages/langgraph/pregel/main.py", "langgraph"),
        ("/somewhere/python3.11/site-packages/typing_extensions.py", "typing_extensions"),
        (kept.__file__, "evals/content_cache"),
        (sampled.__file__, "tests/bench/sampled"),
        ("/a/checkout/triage/agents/writer.py", "triage/agents/writer"),
    ],
)
def test_a_file_belongs_to_the_package_that_a_reader_knows(file, package):
    assert sampled.package_of(file) == package


def test_time_is_put_down_to_whom_it_is_spent_in():
    """Processor time, not the clock's: a busy machine takes longer, and finds the same."""
    with sampled.sampled() as found:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            json.dumps([1] * 2000)

    assert found.most_common(1)[0][0] == "python: json"


def test_imports_are_put_down_to_the_package_that_was_asked_for(tmp_path):
    """Whatever that package imports itself."""
    line = sampled.with_floor(replace(MISSED, floor=""), tmp_path, "--help")

    assert "  imports: typer" in line.floor


def test_the_floor_is_what_libraries_and_the_graph_take():
    kinds = {sampled.LIBRARIES: 10, sampled.GRAPH: 20, sampled.EVALS: 50}

    assert sampled.floor_of(kinds, 8.0, cores=2).splitlines() == [
        "floor: 1.0 s are imports of libraries, 2.0 s the graph's own work (with LangGraph).",
        "No change of evals takes them away. With the graph on 2 cores they are 2.0 s of wall time.",
        "The other 5.0 s are evals' own.",
    ]


def test_what_the_graph_calls_is_the_graphs_and_what_evals_calls_is_evals(tmp_path):
    line = sampled.with_floor(replace(MISSED, floor=""), tmp_path, "--help")

    assert re.search(r"\nfloor: 0\.\d s are imports of libraries, 0\.0 s the graph's own work", line.floor)


def test_shares_are_those_of_all_samples_and_the_rest_is_one_line():
    found = {f"p{n:02}": 2 for n in range(sampled.LINES + 2)}

    first, *rows = sampled.told(found, 3.0).splitlines()

    assert (first, len(rows), rows[-1]) == (
        "3.0 s of processor in one process, of which its own:",
        sampled.LINES + 1,
        " 12%  all others",
    )


def test_a_goal_that_is_met_has_no_floor(tmp_path):
    met = replace(MISSED, met=True, floor="")

    assert sampled.with_floor(met, tmp_path, "no", "such", "command") == met


def test_a_goal_that_is_not_met_is_sampled(tmp_path):
    line = sampled.with_floor(replace(MISSED, floor=""), tmp_path, "--help")

    assert line.floor.splitlines()[0].endswith("s of processor in one process, of which its own:")


def test_the_page_shows_what_stands_in_the_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    performance.keep("report", [MISSED, replace(MISSED, what="met", met=True, floor="unseen")])
    performance.write(["report"])
    page = Path("docs/performance.md").read_text()

    assert ("## What stands in the way" in page, " 60%  langgraph" in page, "unseen" in page) == (True, True, False)
