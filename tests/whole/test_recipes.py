"""The recipes of CONTRIBUTING, followed step by step in a copy of the code: each touches what it says, and works."""

import json
import os
from pathlib import Path

import pytest
import yaml

from tests.builders.checkout import a_checkout, own_code, started

pytestmark = pytest.mark.slow

SCORER = '''"""How much a report says."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scoring.scorer import NotApplicable, scorer
from evals.triage.typed_views import report_of


@scorer("prose.words", unit="count", better="lower")
def words(case: Case, trace: Trace) -> float:
    """Words of the root cause; skipped without a report."""
    report = report_of(trace)
    if report is None:
        raise NotApplicable("there is no report")
    return float(len(report.root_cause.split()))
'''
SUPERVISOR = '''"""Sends every job to the writer at once."""

from typing import Any

from triage.graph_configuration import Configuration
from triage.state import BugTriageState
from triage.supervisors.supervisor import Supervise, Tools


def supervisor(configuration: Configuration, toolbox: Tools) -> Supervise:
    """No setting counts."""

    async def supervise(state: BugTriageState) -> dict[str, Any]:
        node = "end" if state.report else "writer"
        said = {"supervisor_reasoning": "at once", "supervisor_confidence": 0.5}
        return {"next_node": node, **said, "forced_fallback": False, "corrections": 0}

    return supervise
'''


@pytest.fixture
def copied(tmp_path):
    """A tiny checkout with a copy of the code beside it."""
    return own_code(a_checkout(tmp_path))


def put(path: Path, before: str, after: str) -> None:
    """Follow one step of a recipe: `after` goes where `before` stands."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) >= 1, f"{path.name} has no {before!r} any more: the recipe is out of date"
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def said(checkout, *words):
    """Exit code and output of `evals` as the copied code has it."""
    process = started(checkout, *words, PYTHONPATH=str(checkout), HOME=os.environ["HOME"])
    out, err = process.communicate(timeout=300)
    return process.returncode, out + err


def test_a_new_scorer_is_one_file_and_one_line(copied):
    (copied / "evals" / "scoring" / "prose.py").write_text(SCORER, encoding="utf-8")
    table = copied / "evals" / "triage" / "scorers.py"
    put(
        table,
        "from evals.scoring import route_scorers as route\n",
        "from evals.scoring import prose\nfrom evals.scoring import route_scorers as route\n",
    )
    put(table, "    canary,\n", "    canary,\n    prose.words,\n")

    code, _ = said(copied, "run", "tiny.yaml", "--jobs", "1")

    run = json.loads((copied / "reports" / "latest" / "run.json").read_bytes())
    assert code == 3  # nothing is recorded, so nothing is judged; but the scorer is there, and skips
    assert "prose.words" in [scorer["name"] for scorer in run["scorers"]]
    assert {trial["outcomes"]["prose.words"]["kind"] for trial in run["trials"]} == {"skipped"}


def test_a_new_supervisor_is_one_file_and_two_lines(copied):
    (copied / "triage" / "supervisors" / "hasty.py").write_text(SUPERVISOR, encoding="utf-8")
    table = copied / "triage" / "supervisors" / "__init__.py"
    put(table, "import plan, rules", "import hasty, plan, rules")
    put(table, '    "llm": llm.supervisor,\n', '    "llm": llm.supervisor,\n    "hasty": hasty.supervisor,\n')
    put(copied / "evals" / "triage" / "variant_settings.py", 'Literal["llm",', 'Literal["llm", "hasty",')
    suite = copied / "tiny.yaml"
    told = yaml.safe_load(suite.read_text())
    told["variants"][1] = {"name": "new", "supervisor": "hasty", "guards": "none"}
    suite.write_text(yaml.safe_dump(told))

    code, out = said(copied, "plan", "tiny.yaml", "--variant", "new", "--jobs", "1")

    assert code == 3, out
    assert "2 of 2 trials are not recorded" in out
    assert "supervisor" not in out.partition("Record them")[0], "it asks no model itself"


def test_a_new_prompt_version_is_one_file_and_one_line_of_a_suite(copied):
    prompts = copied / "triage" / "prompts" / "supervisor"
    text = (prompts / "v5.md").read_text(encoding="utf-8")
    (prompts / "v9.md").write_text(text.replace("version: v5", "version: v9").replace("parent: v3", "parent: v5"))
    suite = copied / "tiny.yaml"
    told = yaml.safe_load(suite.read_text())
    told["variants"].append({"name": "v9", "prompt": "v9"})
    suite.write_text(yaml.safe_dump(told))

    code, out = said(copied, "plan", "tiny.yaml", "--variant", "v9", "--jobs", "1")

    assert (code, "v9: 2 of 2 trials are not recorded" in out) == (3, True)
