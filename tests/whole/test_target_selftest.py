"""`evals selftest` for a graph that is not ours: planted faults that fit any target."""

import json

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, copied_after_a_run, evals

pytestmark = pytest.mark.slow

ANY = ("dropped step", "other decision", "lost output", "shuffled answers")


def selftest_of(project, suite):
    """Exit code, output, and each fault by name."""
    assert evals(project, "bless", suite, "--worse", "as it is")[0] == 0
    code, said = evals(project, "--jobs", "2", "selftest", suite, "--draws", "20")
    assert (project / "reports" / "selftest" / "selftest.json").is_file(), said
    found = json.loads((project / "reports" / "selftest" / "selftest.json").read_bytes())
    return code, said, {fault["name"]: fault for fault in found["faults"]}


def test_every_fault_that_fits_any_target_is_caught(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    code, said, faults = selftest_of(project, "router")

    assert code == 0, said
    assert {name: faults[name]["exit_code"] for name in ANY} == dict.fromkeys(ANY, 1)
    assert {faults[name]["exit_code"] for name in ("broken scorer", "swapped cassettes", "cut cassette")} == {3}
    assert "dropped guard" not in faults
    assert "10 of 10 traces of v2 are the same when replayed again" in said


def test_a_fault_that_no_label_sees_says_so_in_one_line(tmp_path):
    project = copied("support", tmp_path)
    for path in (project / "evaluation" / "cases").glob("*.yaml"):
        head, _, rest = path.read_text(encoding="utf-8").partition("route:")
        write(path, head + rest.partition("slice:")[1] + rest.partition("slice:")[2])
    code, said, faults = selftest_of(project, "router")

    assert code == 0, said
    assert faults["dropped step"]["exit_code"] is None
    assert faults["dropped step"]["said"] == "no label and no `as_blessed` of this suite sees it"
    assert faults["lost output"]["exit_code"] == 1


def test_a_suite_without_labels_notices_every_fault_as_a_change(tmp_path):
    project = copied("support", tmp_path)
    for number, path in enumerate(sorted((project / "evaluation" / "cases").glob("*.yaml"))):
        if number < 4:
            write(path, path.read_text(encoding="utf-8").partition("expected:")[0])
        else:
            path.unlink()
    write(project / "evaluation" / "suites" / "router.yaml", "variants: [{name: now, config: {router: v1}}]\n")
    write(project / "evals.toml", (project / "evals.toml").read_text(encoding="utf-8").replace('["router"]', "[]"))
    code, said, faults = selftest_of(project, "router")

    assert code == 0, said
    assert {faults[name]["exit_code"] for name in ("dropped step", "lost output", "shuffled answers")} == {3}
    assert faults["lost output"]["said"] == "changed (3): changed"
    assert faults["other decision"]["said"] == "no decision is recorded: name `routers` in evals.toml"
