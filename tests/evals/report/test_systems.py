"""Different systems are called that."""

from evals.report.view.variant_diff import difference, prompt_texts
from tests.builders.run import a_run, a_system_info, a_variant_info, rules_info

PLAN = {"plan": "linear", "plan_text": "tasks: []\n"}
FOUR = [
    a_variant_info("v3"),
    a_system_info("registry", "v4", "Answer in plain JSON."),
    rules_info(),
    a_system_info("plan-fixed", "plan-v1", "Work on the plan.", **PLAN),
    a_system_info("plan-hybrid", "plan-v1", "Work on the plan.", **PLAN),
]


def test_different_systems_are_named_with_what_they_are():
    told = difference(a_run(variants=FOUR))

    assert told.startswith("4 different systems, not versions of one prompt: v3 (supervisor llm); registry (")
    assert "rules (supervisor rules, which reads no prompt)" in told
    assert "plan-fixed, plan-hybrid (supervisor plan)" in told


def test_every_prompt_and_plan_file_is_shown_once_with_its_readers():
    shown = prompt_texts(a_run(variants=FOUR))

    assert [(text.title, text.note) for text in shown] == [
        ("Prompt v3", "read by v3"),
        ("Prompt v4", "read by registry"),
        ("Prompt plan-v1", "read by plan-fixed, plan-hybrid"),
        ("Plan linear", "read by plan-fixed, plan-hybrid"),
    ]
    assert shown[-1].text == "tasks: []\n"
