"""Exit code, sentence, summary and JUnit say the same of a run, whatever happened in it."""

from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.comparison.assemble_run import assemble
from evals.report.junit_xml import junit
from evals.report.summary_markdown import summary
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.shipped import every
from tests.builders.trace import a_report

EXAMPLES = 500 if every() else 8
CASES = some_cases(6)
WRONG = a_report("pkg/io.py", ("pkg/io.py",))
FATES = st.sampled_from(["good", "wrong file", "no review", "off the tape", "failed"])
ICONS = {0: "🟢", 1: "🔴", 3: "🟡"}


def a_fate(fate, case, name):
    fields = {
        "good": {},
        "wrong file": {"report": WRONG},
        "off the tape": {"provenance": "frontier", "frontier": 1},
        "failed": {"provenance": "failed", "error": "the cassette is cut"},
    }
    if fate == "no review":
        return a_good_trace(case, name, "investigator", "codebase_search", "writer")
    return a_good_trace(case, name, **fields[fate])


def drawn(fates):
    return {(case.id, name): a_fate(fate, case.id, name) for (case, name), fate in zip(SIDES, fates, strict=True)}


SIDES = [(case, name) for case in CASES for name in ("v2", "v3")]
RUNS = st.lists(st.one_of(st.just("good"), FATES), min_size=len(SIDES), max_size=len(SIDES))
KEPT = st.lists(st.sampled_from(["good", "wrong file", "no review"]), min_size=len(SIDES), max_size=len(SIDES))


def red(run):
    return [element for element in ET.fromstring(junit(run)).iter() if element.tag in {"failure", "error"}]  # noqa: S314


@settings(max_examples=EXAMPLES, deadline=None)
@given(RUNS, KEPT)
def test_the_files_of_a_run_are_red_exactly_when_its_exit_code_is(now, before):
    blessed = some_material(CASES, some_trials(CASES, drawn(before))).baseline
    run = assemble(some_material(CASES, some_trials(CASES, drawn(now)), baseline=blessed))

    assert bool(red(run)) == (run.verdict.exit_code != 0)
    assert summary(run).startswith(f"## {ICONS[run.verdict.exit_code]} ")


@settings(max_examples=EXAMPLES, deadline=None)
@given(KEPT, KEPT)
def test_no_green_keeps_quiet_about_what_fell_against_a_baseline(now, before):
    blessed = some_material(CASES, some_trials(CASES, drawn(before))).baseline
    run = assemble(some_material(CASES, some_trials(CASES, drawn(now)), baseline=blessed))

    fallen = [item for item in run.comparisons if item.against == "baseline" and item.delta and item.delta < 0]
    if run.verdict.exit_code == 0:
        for item in fallen:
            assert f"{item.left} against its baseline: {item.endpoint}" in run.verdict.sentence


def test_one_case_lost_since_the_baseline_is_green_and_named():
    """So that the rule above is not kept by there being no such green."""
    lost = drawn(["good"] * 11 + ["wrong file"])
    blessed = some_material(CASES, some_trials(CASES)).baseline
    verdict = assemble(some_material(CASES, some_trials(CASES, lost), baseline=blessed)).verdict

    assert verdict.exit_code == 0
    assert "v3 against its baseline: root_cause.hit -17 points" in verdict.sentence


def test_what_all_variants_lose_alike_is_no_green():
    """A code change that all share shows against no reference; the baseline is all there is."""
    blessed = some_material(CASES, some_trials(CASES, drawn(["wrong file"] * 6 + ["good"] * 6))).baseline
    run = assemble(some_material(CASES, some_trials(CASES, drawn(["wrong file"] * 12)), baseline=blessed))

    assert run.verdict.exit_code != 0
