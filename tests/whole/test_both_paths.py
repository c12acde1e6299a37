"""The committed suite on both paths, three of its cases, and eight under `make test EVERY=1`: what the short one
spares is not to be seen in any trace.
"""

from pathlib import Path

import pytest

from evals.models.trace import Trace
from evals.runner.case_task import CaseTask, run_case
from evals.shortcut_switch import SWITCH
from evals.suites.suite_files import read_suite, select
from evals.triage.dataset.load_cases import load_cases
from evals.workspace import Workspace
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

HERE = Workspace.at(Path(__file__).parents[2])
SUITE = read_suite("prompts")
CASES = select(load_cases(HERE.datasets), read_suite("models").cases)[:: 1 if every() else 3]


def traces(case, cache) -> list[Trace]:
    place = HERE.cassette(case.id), HERE.datasets, cache, HERE.vectors
    return run_case(CaseTask(case, SUITE.variants, 0, *place))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_gives_the_same_traces_on_both_paths(case, tmp_path, monkeypatch):
    short = traces(case, tmp_path)
    monkeypatch.setenv(SWITCH, "1")

    assert [trace.model_dump_json() for trace in traces(case, tmp_path)] == [one.model_dump_json() for one in short]
    assert {trace.provenance.label for trace in short} == {"exact"}  # so no request has changed
