"""`junit.xml`, read by the rules of the schema that Jenkins publishes and GitLab follows."""

from xml.etree import ElementTree as ET

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from evals.models.metrics import Failed, Scored
from evals.models.run import Reason
from evals.report.junit_xml import junit
from tests.builders.run import a_case_info, a_comparison, a_run, a_trial, a_verdict
from tests.builders.trace import a_trace

RED = a_verdict("worse", 1, sentence="v3 is worse.")
OUTCOMES = {"failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"}}
ALLOWED = {
    "testsuites": (set(), {"name", "tests", "failures", "errors", "disabled", "time"}, {"testsuite"}),
    "testsuite": ({"name", "tests"}, {"failures", "errors", "skipped", "time", "timestamp"}, {"testcase"}),
    "testcase": ({"name"}, {"classname", "time", "status"}, {*OUTCOMES, "system-out", "system-err"}),
    **{kind: (set(), attributes, set()) for kind, attributes in OUTCOMES.items()},
    "system-out": (set(), set(), set()),
}


def read(run):
    return ET.fromstring(junit(run).encode())  # noqa: S314 - written just now


def a_testcase(run, suite="prompts: v3", case="local-bug"):
    return next(each for each in read(run).iterfind(f"testsuite[@name='{suite}']/testcase") if each.get("name") == case)


def what_became(testcase):
    return [child.tag for child in testcase if child.tag in OUTCOMES]


def an_eventful_run():
    """Every kind of outcome at once."""
    cases = [a_case_info(name) for name in ("passes", "broke", "fails", "unrecorded")]
    trials = [
        a_trial(a_trace(case_id="passes", variant="v3")),
        a_trial(a_trace(case_id="broke", variant="v3"), {"route.pass": Scored(value=0.0)}),
        a_trial(a_trace(case_id="fails", variant="v3", provenance="failed", error="the cassette is cut")),
        a_trial(a_trace(case_id="unrecorded", variant="v3", provenance="frontier", frontier=2)),
    ]
    return a_run(*trials, cases=cases, comparisons=(a_comparison(broke=("broke",)),), verdict=RED)


def test_every_element_and_attribute_is_one_that_readers_know():
    for element in read(an_eventful_run()).iter():
        required, optional, children = ALLOWED[element.tag]

        assert required <= set(element.keys()) <= required | optional, element.tag
        assert {child.tag for child in element} <= children, element.tag


def test_a_suite_counts_what_it_holds():
    suite = read(an_eventful_run()).find("testsuite[@name='prompts: v3']")

    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }


def test_a_case_that_broke_fails_with_the_reason():
    broke = a_comparison(broke=("local-bug",), divergence="diverges at decision 2: critic skipped")

    testcase = a_testcase(a_run(comparisons=(broke,), verdict=RED))

    assert what_became(testcase) == ["failure"]
    assert testcase.find("failure").get("message") == (
        "route.pass is lower under v3 than under v2 (diverges at decision 2: critic skipped)"
    )


def test_a_case_that_fails_as_it_always_did_is_not_red():
    """The gate compares; a model that never passed a case has not made it worse."""
    run = a_run(a_trial(a_trace(variant="v3"), {"route.pass": Scored(value=0.0)}))

    assert what_became(a_testcase(run)) == []
    assert "sample 0: route.pass = 0" in a_testcase(run).findtext("system-out")


def test_a_variant_that_is_only_shown_is_not_red_against_the_reference():
    """The gate judges the candidate; v1 is worse than v2 on purpose, perhaps."""
    run = a_run(candidate="v3", comparisons=(a_comparison(left="v2", right="v1", broke=("local-bug",)),))

    assert what_became(a_testcase(run, "prompts: v2")) == []


def test_a_variant_that_broke_against_its_baseline_is_red_whoever_it_is():
    fell = a_comparison(left="v2", right="v2 (baseline)", against="baseline", broke=("local-bug",))

    assert what_became(a_testcase(a_run(comparisons=(fell,), verdict=RED), "prompts: v2")) == ["failure"]


def test_a_loss_that_the_verdict_calls_chance_is_told_and_not_red():
    run = a_run(comparisons=(a_comparison(broke=("local-bug",)),))

    assert what_became(a_testcase(run)) == []
    assert "route.pass is lower under v3 than under v2" in a_testcase(run).findtext("system-out")


def test_what_nobody_recorded_is_skipped_and_never_passed():
    run = a_run(a_trial(a_trace(variant="v3", provenance="unrecorded")))

    assert what_became(a_testcase(run)) == ["skipped"]
    assert "nobody recorded" in a_testcase(run).find("skipped").get("message")


def test_a_scorer_that_stumbled_is_an_error():
    run = a_run(a_trial(a_trace(variant="v3"), {"cost.tokens": Failed(error="KeyError: 'x'")}))

    assert a_testcase(run).find("error").get("message") == "cost.tokens: KeyError: 'x'"


@pytest.mark.parametrize(
    ("status", "code", "kind"), [("not worse", 0, []), ("worse", 1, ["failure"]), ("cannot judge", 3, ["error"])]
)
def test_the_file_is_red_when_the_run_is(status, code, kind):
    """Whatever the verdict rests on, also what is no single case's: coverage, a leak, a new violation."""
    run = a_run(verdict=a_verdict(status, code, Reason(kind="note", text="because"), sentence="So it is."))

    assert what_became(a_testcase(run, "prompts: verdict", "verdict")) == kind


def test_text_from_elsewhere_stays_text():
    evil = "</error><x/> \x1b[31m \x00 \ufffe ]]> & \u202e"

    run = a_run(a_trial(a_trace(variant="v3", provenance="failed", error=evil)))

    assert "</error><x/> ␛[31m ␀ \ufffd ]]> & ⟨U+202E⟩" in a_testcase(run).findtext("error")


def test_a_kept_parser_reads_what_was_written():
    """junitparser, as many CI tools do: the same tests, outcomes and words."""
    suites = {suite.name: suite for suite in JUnitXml.fromstring(junit(an_eventful_run()).encode())}
    v3 = {case.name: case for case in suites["prompts: v3"]}

    assert {name: [type(result) for result in case.result] for name, case in v3.items()} == {
        "passes": [],
        "broke": [Failure],
        "fails": [Error],
        "unrecorded": [Skipped],
    }
    assert v3["fails"].result[0].text == v3["fails"].result[0].message == "the cassette is cut"
    assert "sample 0: route.pass = 0" in v3["broke"].system_out
    assert [getattr(suites["prompts: v3"], count) for count in ("tests", "failures", "errors", "skipped")] == [
        4,
        1,
        1,
        1,
    ]
    assert [case.is_passed for case in suites["prompts: verdict"]] == [False]
