"""Plan files: what is read, and how each fault is named with its line."""

import pytest

from triage.errors import ConfigurationError, PlanError
from triage.plans.plan_files import given_plan, load_plan, parse_plan, plan_header, shipped_plans
from triage.state import WORKERS

LINES = """\
objective: Find the cause.
tasks:
  - task_id: 1
    objective: Read the issue.
    capability: investigator
  - task_id: 2
    objective: Write the report.
    capability: writer
    dependencies: [1]
    is_final: true
"""
KNOWN = ", ".join(WORKERS)
FAULTS = {
    "unknown capability": (
        ("capability: writer", "capability: oracle"),
        f"line 8: unknown capability 'oracle'; known are {KNOWN}",
    ),
    "duplicate id": (("task_id: 2", "task_id: 1"), "line 6: there is a task 1 already; use another number"),
    "missing dependency": (("[1]", "[7]"), "line 9: task 2 depends on task 7, which does not exist; known are 1, 2"),
    "cycle": (
        ("capability: investigator", "capability: investigator\n    dependencies: [2]"),
        "line 6: tasks wait for each other (1 -> 2 -> 1); take one dependency out",
    ),
    "its own dependency": (("[1]", "[2]"), "line 9: tasks wait for each other (2 -> 2); take one dependency out"),
    "no final task": (
        ("is_final: true", "is_final: false"),
        "line 2: no task is final; write `is_final: true` at one, or `auto_mark_final: true` above",
    ),
    "two final tasks": (
        ("capability: investigator", "capability: investigator\n    is_final: true"),
        "line 11: task 2 is a second final task; mark only one",
    ),
    "a key nobody knows": (("is_final: true", "final: true"), "line 10: tasks.1.final: extra inputs are not permitted"),
    "another name for a key": (
        ("    dependencies:", "    depends_on:"),
        "line 9: tasks.1.depends_on: extra",
    ),
    "a key twice": (
        ("is_final: true", "is_final: true\n    is_final: true"),
        "line 11: `is_final` stands here for the second time",
    ),
    "an id in words": (("task_id: 2", "task_id: two"), "line 6: tasks.1.task_id: input should be a valid integer"),
    "an id as text": (("task_id: 2", "task_id: '2'"), "line 6: tasks.1.task_id: input should be a valid integer"),
    "id zero": (("task_id: 2", "task_id: 0"), "line 6: tasks.1.task_id: input should be greater than or equal to 1"),
    "no objective": (("    objective: Write the report.\n", ""), "line 6: tasks.1.objective: field required"),
    "a dependency as text": (("[1]", "['1']"), "line 9: tasks.1.dependencies.0: input should be a valid integer"),
    "an alias": (("[1]", "&a [1]\n    x: *a"), "line 10: aliases are not allowed; write it out"),
    "broken YAML": (("[1]", "[1"), "not YAML ("),
    "no tasks": (
        (LINES[LINES.index("tasks:") :], "tasks: []\n"),
        "line 2: there is no task; a plan needs at least its final one",
    ),
    "a list": ((LINES, "- 1\n"), "line 1: the file: input should be a valid dictionary"),
    "nothing": ((LINES, ""), "line 1: the file is empty; it needs `objective` and `tasks`"),
}


@pytest.mark.parametrize(("change", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_its_line(change, said):
    with pytest.raises(PlanError) as caught:
        parse_plan(LINES.replace(*change), source="mine.yaml")

    assert str(caught.value).startswith("mine.yaml: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_faults_of_a_file_are_named_at_once():
    broken = LINES.replace("capability: investigator", "capability: seer").replace(
        "capability: writer", "capability: x"
    )

    with pytest.raises(PlanError, match=r"line 5: unknown capability 'seer'.*; line 8: unknown capability 'x'"):
        parse_plan(broken, source="mine.yaml")


def test_a_plan_is_a_list_of_tasks_nobody_has_begun():
    first, last = parse_plan(LINES, source="mine.yaml")

    assert (first.task_id, first.objective, first.capability, first.dependencies) == (
        1,
        "Read the issue.",
        "investigator",
        (),
    )
    assert (last.dependencies, last.is_final, last.status, last.attempts, last.history) == ((1,), True, "READY", 0, ())


def test_auto_mark_final_marks_the_highest_id():
    unmarked = LINES.replace("    is_final: true\n", "").replace("task_id: 1", "task_id: 9").replace("[1]", "[9]")

    tasks = parse_plan("auto_mark_final: true\n" + unmarked, source="mine.yaml")

    assert [(task.task_id, task.is_final) for task in tasks] == [(2, False), (9, True)]


def test_auto_mark_final_leaves_a_mark_where_it_is():
    tasks = parse_plan(
        "auto_mark_final: true\n" + LINES.replace("task_id: 1", "task_id: 9").replace("[1]", "[9]"), source="x"
    )

    assert [task.task_id for task in tasks if task.is_final] == [2]


@pytest.mark.parametrize("name", shipped_plans())
def test_every_shipped_plan_loads_and_ends_with_the_report(name):
    assert [task.capability for task in load_plan(name) if task.is_final] == ["writer"]


def test_the_fan_out_plan_fans_out_and_in_again():
    assert [task.dependencies for task in load_plan("fan-out")] == [(), (1,), (1,), (2, 3)]


@pytest.mark.parametrize("spec", ["nosuch", "nosuch.yaml"])
def test_a_plan_that_is_not_there_names_the_shipped_ones(spec):
    with pytest.raises(PlanError, match=f"{spec}: no such plan; choose one of fan-out, linear, optional-branch"):
        load_plan(spec)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "odd.yaml").write_bytes(b"\xff\xfe")

    with pytest.raises(PlanError, match="not UTF-8 at byte 0"):
        load_plan(str(tmp_path / "odd.yaml"))


@pytest.mark.parametrize("mode", ["fixed", "hybrid"])
def test_modes_with_a_seed_need_a_plan(mode):
    with pytest.raises(ConfigurationError, match=f"plan-{mode} needs a plan: one of fan-out"):
        given_plan(mode, None)


def test_the_dynamic_mode_takes_no_plan():
    with pytest.raises(ConfigurationError, match="plan-llm makes its own plan"):
        given_plan("llm", "linear")


THEIRS = """\
objective: Find the cause.
reasoning_steps: One after the other.
metadata: {owner: shop}
tasks:
  - {task_id: 1, sub_task_objective: Read the issue., capability: investigator, metadata: {cost: 2}}
  - {task_id: 2, sub_task_objective: Write., capability: writer, sub_task_dependencies: [1], is_final: true}
"""


def test_the_names_of_the_source_document_mean_the_same():
    ours = THEIRS.replace("sub_task_", "").replace("reasoning_steps", "notes")

    assert parse_plan(THEIRS, "plan") == parse_plan(ours, "plan")
    assert [task.dependencies for task in parse_plan(THEIRS, "plan")] == [(), (1,)]


def test_notes_and_metadata_are_kept_for_whoever_reads_the_results(tmp_path):
    (tmp_path / "plan.yaml").write_text(THEIRS)

    assert plan_header(str(tmp_path / "plan.yaml")) == {
        "objective": "Find the cause.",
        "notes": "One after the other.",
        "metadata": {"owner": "shop"},
        "task_metadata": {"1": {"cost": 2}},
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sub_task_dependencies: [1]", "sub_task_dependencies: [9]", "line 6: "),
        ("sub_task_objective: Write.", "objective: Read., sub_task_objective: Write.", "line 6: `sub_task_objective`"),
        ("reasoning_steps: One", "sub_task_objective: One", "line 2: "),
        ("{cost: 2}", "{cost: [2]}", "line 5: "),
    ],
)
def test_what_is_wrong_under_their_names_is_told_by_line_as_well(old, new, said):
    with pytest.raises(PlanError, match=said):
        parse_plan(THEIRS.replace(old, new), "plan")
