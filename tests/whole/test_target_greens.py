"""Ways to an undeserved green of a target: what a label says and nothing reads, files that a verdict rests on."""

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied_after_a_run, evals

pytestmark = pytest.mark.slow

CASES = "evaluation/cases"


def relabelled(project, case, text):
    path = project / CASES / f"{case}.yaml"
    write(path, path.read_text(encoding="utf-8") + text)


def run(project, *words):
    return evals(project, "run", "router", "--jobs", "1", *words)


def bless(project):
    code, said = evals(project, "bless", "router", "--jobs", "1", "--worse", "a test")
    assert code == 0, said


def test_a_canary_that_reaches_the_output_is_worse(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    relabelled(project, "charged-twice", "canary: ZEBRA\n")
    bless(project)
    assert run(project)[0] == 0

    write(project / "evaluation/suites/fresh.yaml", (project / "evaluation/suites/router.yaml").read_text())
    relabelled(project, "only-leaving", "canary: HARBOUR\n")
    code, said = evals(project, "run", "fresh", "--jobs", "1", "--verbose")
    assert code == 3
    assert "the canary of only-leaving reached an output of v1" in said


def test_a_case_that_must_pass_and_has_no_label_cannot_be_judged(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    write(
        project / CASES / "charged-twice.yaml",
        (project / CASES / "charged-twice.yaml").read_text().partition("expected:")[0] + "must_pass: true\n",
    )
    code, said = run(project)

    assert (code, "charged-twice must pass, and v1 has no score for it" in said) == (3, True), said


def test_a_field_that_must_be_as_blessed_and_is_in_no_output_is_named(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    suite = project / "evaluation/suites/router.yaml"
    write(suite, suite.read_text() + "as_blessed: [quee]\n")
    code, said = run(project)

    assert (code, "as_blessed 'quee': the output has no such field; did you mean 'queue'?" in said) == (3, True), said


@pytest.mark.parametrize("name", ["other.yml", "deeper/other.yaml"])
def test_a_file_among_the_cases_that_is_none_is_named(tmp_path, name):
    project = copied_after_a_run("support", tmp_path)
    write(project / CASES / name, "inputs: {text: x, account: y}\n")
    code, said = run(project)

    assert (code, f"{name}: is no case; call it cases/other.yaml" in said) == (2, True), said
