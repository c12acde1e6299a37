"""A suite without labels is compared with its blessed run: changed or not, never worse."""

import json
import shutil
from xml.etree import ElementTree as ET

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals, pytest_at_once

pytestmark = pytest.mark.slow

SUITE = "variants: [{name: now, config: {router: v1}}]\n"
CASES = ("charged-twice", "leaving-but-stays", "only-leaving")


@pytest.fixture(scope="module")
def blessed(tmp_path_factory):
    """Three cases of the example `support` without labels, blessed."""
    project = copied("support", tmp_path_factory.mktemp("blessed"))
    for path in (project / "evaluation" / "cases").glob("*.yaml"):
        if path.stem in CASES:
            write(path, path.read_text(encoding="utf-8").partition("expected:")[0])
        else:
            path.unlink()
    shutil.rmtree(project / "evaluation" / "baselines", ignore_errors=True)
    (project / "evaluation" / "suites" / "router.yaml").unlink()
    write(project / "evaluation" / "suites" / "first.yaml", SUITE)
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "has no baseline yet" in said) == (3, True), said
    code, said = evals(project, "bless", "first", "--jobs", "1")
    assert code == 0, said
    return project


@pytest.fixture
def project(blessed, tmp_path):
    """A copy of it."""
    return shutil.copytree(blessed, tmp_path / "support")


def edited(project, was: str, now: str) -> None:
    """The graph with a line exchanged; no request changes by it."""
    path = project / "desk" / "graph.py"
    text = path.read_text(encoding="utf-8")
    assert was in text
    write(path, text.replace(was, now))


END_PLAN = (
    'return {"reply": model',
    'return {"action": "end" if state["action"] == "cancel" else state["action"], "reply": model',
)

END_REPLY = ('return {"reply": model', 'return {"action": "end", "reply": model')


def test_nothing_changed_is_green_and_says_what_was_compared(project):
    code, said = evals(project, "run", "first", "--jobs", "1")

    assert code == 0, said
    assert (
        "now: nothing changed since the baseline in 3 cases (steps, decisions, output: action, amount, queue)" in said
    )
    assert "exit code 0 (not worse)" in said


def test_a_change_names_the_cases_the_fields_and_the_next_commands(project):
    edited(project, *END_PLAN)
    code, said = evals(project, "run", "first", "--jobs", "1")

    assert code == 3, said
    assert "now changed in 2 of 3 cases since the baseline (output.action 2): leaving-but-stays, only-leaving" in said
    assert "`evals explain leaving-but-stays --suite first`" in said
    assert "`evals bless first`" in said
    assert "exit code 3 (changed)" in said
    assert "worse" not in said

    report = project / "reports" / "latest"
    run = json.loads((report / "run.json").read_bytes())
    assert run["verdict"]["status"] == "changed"
    assert run["changes"][0] == {
        "case_id": "leaving-but-stays",
        "variant": "now",
        "what": "output.action",
        "was": "cancel",
        "now": "end",
    }
    assert ">output.action</td>" in (report / "index.html").read_text(encoding="utf-8")
    assert "output\\.action" in (report / "summary.md").read_text(encoding="utf-8")
    junit = ET.parse(report / "junit.xml").getroot()  # noqa: S314 - our own file
    found = {case.get("name"): case.find("error") for case in junit.iter("testcase")}
    assert [found[name].get("type") for name in ("verdict", "only-leaving")] == ["changed", "changed"]
    assert found["charged-twice"] is None

    code, said = evals(project, "gate", "reports/latest/run.json")
    assert (code, "now changed in 2 of 3 cases" in said) == (3, True), said
    assert evals(project, "bless", "first", "--jobs", "1")[0] == 0
    assert evals(project, "run", "first", "--jobs", "1")[0] == 0


def test_a_step_more_is_a_change_in_every_case(project):
    edited(
        project,
        'builder.add_edge("reply", END)',
        'builder.add_node("log", lambda state: {})\nbuilder.add_edge("reply", "log")\nbuilder.add_edge("log", END)',
    )
    code, said = evals(project, "run", "first", "--jobs", "1")

    assert (code, "changed in 3 of 3 cases since the baseline (steps 3)" in said) == (3, True), said


def test_explain_says_what_changed(project):
    edited(project, *END_PLAN)
    code, said = evals(project, "explain", "only-leaving", "--suite", "first")

    assert code == 0, said
    assert "output.action: cancel → end" in " ".join(said.split())


def test_a_case_that_changed_fails_under_pytest(project, tmp_path):
    """And the graph is loaded once, not for each test: in a worker process, and to name its nodes."""
    edited(project, *END_PLAN)
    path = project / "desk" / "graph.py"
    write(path, f"{path.read_text(encoding='utf-8')}\nopen({str(tmp_path / 'loads')!r}, 'a').write('.')\n")
    code, said, _ = pytest_at_once(project, "-q", "--evals", "first", "-p", "no:cacheprovider")

    assert code == 1, said
    assert "output.action changed since the baseline: cancel → end" in said
    assert "see it with `evals explain only-leaving --variant now --suite first`" in said
    assert "ERROR first::verdict" in said
    assert "FAILED first::now::charged-twice" not in said
    assert len((tmp_path / "loads").read_text()) <= 2


def test_a_suite_names_the_fields_that_count(project):
    write(project / "evaluation" / "suites" / "first.yaml", f"{SUITE}as_blessed: [amount]\n")
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "`as_blessed:` names other fields than when the suite was blessed" in said) == (3, True), said
    assert evals(project, "bless", "first", "--jobs", "1")[0] == 0

    edited(project, *END_PLAN)
    code, said = evals(project, "run", "first", "--jobs", "1")
    assert (code, "(steps, decisions, output: amount)" in said) == (0, True), said


def test_two_variants_without_labels_are_each_compared_with_their_own_blessed_run(project):
    both = "variants:\n  - {name: v1, config: {router: v1}}\n  - {name: v2, config: {router: v2}}\n"
    write(project / "evaluation" / "suites" / "both.yaml", both)
    assert evals(project, "run", "both", "--jobs", "1")[0] == 3
    code, said = evals(project, "bless", "both", "--jobs", "1")
    assert code == 0, said
    code, said = evals(project, "run", "both", "--jobs", "1")
    assert (code, said.count("nothing changed since the baseline in 3 cases")) == (0, 1), said
    edited(project, *END_PLAN)
    code, said = evals(project, "run", "both", "--jobs", "1")
    assert (code, "v1 changed in 2 of 3 cases" in said, "v2 changed in 2 of 3" in said) == (3, True, True), said


def test_a_new_candidate_without_labels_is_compared_with_the_reference(tmp_path):
    """What others were blessed as says nothing of it."""
    project = copied("support", tmp_path)
    cases = project / "evaluation" / "cases"
    for path in cases.glob("*.yaml"):
        text = path.read_text(encoding="utf-8").partition("expected:")[0]
        write(path, text) if path.stem in ("charged-twice", "error-402-at-sign-in") else path.unlink()
    suite, v1 = project / "evaluation" / "suites" / "both.yaml", "variants:\n  - {name: v1, config: {router: v1}}\n"
    write(suite, v1)
    assert evals(project, "bless", "both", "--jobs", "1")[0] == 0
    write(suite, f"{v1}  - {{name: v2, config: {{router: v2}}}}\n")
    code, said = evals(project, "run", "both", "--jobs", "1")

    what = "decisions 1, output.action 1, output.queue 1, steps 1"
    assert (code, f"v2 differs from v1 in 1 of 2 cases ({what}): error-402-at-sign-in" in said) == (3, True), said
    assert "no baseline yet for v2" in said
    assert evals(project, "gate")[0] == 3

    write(suite, f"{v1}  - {{name: again, config: {{router: v1}}}}\n")
    code, said = evals(project, "run", "both", "--jobs", "1")
    assert (code, "again: nothing differs from v1 in 2 cases" in said) == (0, True), said
    edited(project, *END_REPLY)
    code, said = evals(project, "run", "both", "--jobs", "1")
    assert (code, "v1 changed in 2 of 2 cases since the baseline (output.action 2)" in said) == (3, True), said


def test_a_third_variant_without_labels_that_shared_code_took_off_its_recording_cannot_be_judged(project):
    three = "".join(
        f"  - {{name: {name}, config: {{router: {of}}}}}\n" for name, of in (("v1", "v1"), ("v2", "v2"), ("v3", "v1"))
    )
    write(project / "evaluation" / "suites" / "three.yaml", f"variants:\n{three}")
    assert evals(project, "bless", "three", "--jobs", "1")[0] == 0
    edited(project, '("user", state["text"])]', '("user", state["text"] + " " * (version == "v2"))]')
    code, said = evals(project, "run", "three", "--jobs", "1")

    assert (code, "v2 lost coverage in 3 of 3 trials" in said) == (3, True), said


def test_compare_lists_what_differs_without_labels_and_calls_nothing_worse(tmp_path):
    project = copied("support", tmp_path)
    cases = project / "evaluation" / "cases"
    for path in cases.glob("*.yaml"):
        text = path.read_text(encoding="utf-8").partition("expected:")[0]
        write(path, text) if path.stem in ("charged-twice", "error-402-at-sign-in") else path.unlink()
    both = "variants:\n  - {name: v1, config: {router: v1}}\n  - {name: v2, config: {router: v2}}\n"
    write(project / "evaluation" / "suites" / "both.yaml", both)
    compared = ("compare", "v1", "v2", "--suite", "both", "--jobs", "1")
    code, said = evals(project, *compared)

    what = "decisions 1, output.action 1, output.queue 1, steps 1"
    assert (code, f"v2 differs from v1 in 1 of 2 cases ({what}): error-402-at-sign-in" in said) == (3, True), said
    assert "exit code 3 (changed)" in said
    assert not {"worse", "baseline", "bless"} & set(said.replace("`", " ").split())
    report = project / "reports" / "compare"
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "What differs between v1 and v2" in page
    assert "output.queue: technical under v2, billing under v1" in (report / "junit.xml").read_text(encoding="utf-8")
    assert evals(project, "gate", str(report / "run.json"))[0] == 3

    (cases / "error-402-at-sign-in.yaml").unlink()
    code, said = evals(project, *compared)
    assert (code, "v2: nothing differs from v1 in 1 case (steps, decisions, output: " in said) == (0, True), said


def test_commands_about_metrics_say_that_no_label_gives_one(project):
    evals(project, "run", "first", "--jobs", "1")
    metrics, noise = evals(project, "metrics", "first"), evals(project, "noise", "reports/latest/run.json")

    assert (
        metrics[0],
        "no case of first has a score under both now and now: `evals plan first` says" in metrics[1],
    ) == (3, True), metrics
    assert (noise[0], "no metric is primary in reports/latest/run.json; name one with --metric" in noise[1]) == (
        3,
        True,
    ), noise
