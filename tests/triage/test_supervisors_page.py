"""docs/supervisors.md says what the code does: the life of a task, the settings, the names."""

import re
from pathlib import Path

import pytest

from triage.graph_configuration import RulesSettings
from triage.plans.plan_files import shipped_plans
from triage.run_options import DEFAULT_PLAN, DEFAULT_PROMPTS
from triage.state import PlanLimits
from triage.supervisors import SUPERVISORS
from triage.supervisors.plan.plan_progress import MOVES

PAGE = (Path(__file__).parents[2] / "docs" / "supervisors.md").read_text(encoding="utf-8")
SETTINGS = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", PAGE, re.MULTILINE))


def test_the_page_draws_every_transition_of_a_task_and_no_other():
    drawn = re.findall(r"^ +([A-Z_]+) --> ([A-Z_]+):", PAGE, re.MULTILINE)

    assert sorted(drawn) == sorted((status, wanted) for status, moves in MOVES.items() for wanted in moves)


@pytest.mark.parametrize("settings", [RulesSettings, PlanLimits])
def test_the_page_names_every_setting_with_its_default(settings):
    defaults = {name: getattr(settings(), name) or RulesSettings().retries for name in settings.model_fields}

    assert {name: float(SETTINGS[name]) for name in defaults} == defaults


@pytest.mark.parametrize("name", [*SUPERVISORS, *shipped_plans(), *DEFAULT_PROMPTS.values(), DEFAULT_PLAN])
def test_the_page_names_every_supervisor_plan_and_default(name):
    assert re.search(rf"`[^`\n]*\b{name}`", PAGE)
