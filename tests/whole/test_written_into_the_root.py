"""What commands write into a project's root is no code of its target."""

import pytest

from evals.target.target_settings import target_files
from tests.builders.dataset import write
from tests.builders.example_projects import copied_after_a_run, evals

pytestmark = pytest.mark.slow
JUNIT = '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"></testsuites>'


def test_a_report_a_shard_and_junit_in_the_root_change_no_code(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    assert evals(project, "bless", "router", "--jobs", "1")[0] == 0
    assert evals(project, "run", "router", "--jobs", "1")[0] == 0
    write(project / "junit.xml", JUNIT)
    for words in (("--out", "out"), ("--shard", "1/1", "--out", "shard.json"), ("--out", "out/again")):
        code, said = evals(project, "run", "router", "--jobs", "1", *words)
        assert (code, "20 reused unchanged" in said) == (0, True), said

    code, said = evals(project, "gate")
    assert code == 0, said


def test_a_json_file_of_the_target_is_its_code(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    write(project / "desk/settings.json", '{"schema_version": 1}\n')

    assert " 0 reused unchanged" in evals(project, "run", "router", "--jobs", "1")[1]


@pytest.mark.parametrize("folder", ["desk", "."])
def test_what_stands_beside_a_report_stays_code(tmp_path, folder):
    project = copied_after_a_run("support", tmp_path)
    write(project / "desk/texts.txt", "Hello\n")
    for _ in range(2):
        said = evals(project, "run", "router", "--jobs", "1", "--out", folder)[1]
    assert " 0 reused" not in said, said
    assert {"graph.py", "texts.txt"} <= {path.name for path in target_files(project)}
    write(project / "desk/texts.txt", "Good morning\n")

    assert " 0 reused" in evals(project, "run", "router", "--jobs", "1", "--out", folder)[1]
