"""No number of `summary.md` stands alone: every cell says what it rests on, and how far the rest reaches."""

import re

import pytest

from evals.comparison.assemble_run import assemble
from evals.models.run import DatasetBaseline
from evals.report.summary_markdown import summary
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_decision, a_report, an_answer, an_override

WRONG = a_report("pkg/io.py", ("pkg/io.py",), severity="LOW")
OFF: dict = {"provenance": "frontier", "frontier": 1, "points": (an_answer(chosen=None),)}
RESTS_ON = re.compile(r"\d+/\d+|\d+ of \d+|\d+ cases")
BOUNDS = re.compile(r"to [^|]* with the rest")


def tables() -> dict[str, list[dict[str, str]]]:
    """The tables of a run in which v3 leaves the tape twice and errs twice; each row by its headings."""
    cases = [*some_cases(5), *some_cases(8, severity="LOW")[5:]]
    cases[6] = some_cases(8, question="required", pair_id="twins")[6]
    cases[7] = some_cases(8, pair_id="twins")[7]
    changed = {
        ("case-0", "v3"): a_good_trace("case-0", "v3", **OFF),
        ("case-7", "v3"): a_good_trace("case-7", "v3", **OFF),
        ("case-1", "v3"): a_good_trace(
            "case-1", "v3", report=WRONG, decisions=[a_decision(0, overrides=[an_override()])]
        ),
    }
    share = DatasetBaseline(endpoint="route.pass", name="constant route", definition="", share=0.5, n=8)
    run = assemble(some_material(cases, some_trials(cases, changed), dataset_baselines=[share]))
    found: dict[str, list[dict[str, str]]] = {}
    head: list[str] = []
    for line in summary(run).splitlines():
        cells = [cell.replace("\\", "").strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif set("".join(cells)) != {"-", " "} and set("".join(cells)) != {"-"}:
            found.setdefault(head[0], []).append(dict(zip(head, cells, strict=True)))
    return found


TABLES = tables()
ROWS = [(name, row) for name, rows in TABLES.items() for row in rows]


def test_every_table_of_the_summary_is_walked():
    assert TABLES.keys() == {"variant", "what", "metric", "comparison"}
    assert len(ROWS) > 20


@pytest.mark.parametrize(
    ("table", "row"), ROWS, ids=lambda part: part if isinstance(part, str) else next(iter(part.values()))
)
def test_every_number_says_what_it_rests_on(table, row):
    """In its own cell, or for a comparison in the cell of its pairs and for a baseline in that of its cases."""
    cells = [cell for heading, cell in row.items() if heading != table and re.search(r"\d", cell)]
    shared = row.get("pairs") or (row["exact trials"] if row.get(table) == "floor (no model)" else "")

    assert all(RESTS_ON.search(cell) or RESTS_ON.search(shared) for cell in cells), row


@pytest.mark.parametrize("endpoint", ["route.pass", "root_cause.hit", "decision.score"])
def test_a_headline_off_the_tape_is_bounded_both_ways(endpoint):
    (row,) = [row for row in TABLES["variant"] if row["variant"] == "v3" and endpoint in row]

    assert "n=6/8" in row[endpoint]
    assert BOUNDS.search(row[endpoint])


@pytest.mark.parametrize("endpoint", ["route.pass", "root_cause.hit", "decision.score"])
def test_a_difference_off_the_tape_is_bounded_both_ways(endpoint):
    (row,) = [row for row in TABLES["comparison"] if row["comparison"] == "v3 against v2" and row["metric"] == endpoint]

    assert row["pairs"] == "6/8"
    assert BOUNDS.search(row["points"])


BOUNDED = ["decision.micro", "ask.balanced_accuracy", "confidence.sure", "confidence.paired_brier"]


@pytest.mark.parametrize("name", BOUNDED)
def test_a_measure_off_the_tape_is_bounded_both_ways(name):
    (row,) = [row for row in TABLES["metric"] if row["metric"] == name]

    assert BOUNDS.search(row["v3"])
    assert not BOUNDS.search(row["v2"])
