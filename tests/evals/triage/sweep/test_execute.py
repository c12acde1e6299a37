"""A sweep in real worker processes, one of which is killed: a point is lost, and nothing else."""

import pytest

from evals.runner import worker_pool as workers
from evals.triage.sweep.sweep_run import execute
from evals.triage.variant_prompts import describe
from evals.workspace import Workspace
from tests.builders.case import a_case
from tests.builders.facts import a_variant
from tests.builders.sweep import DEADLY, a_point, explore_or_die

pytestmark = pytest.mark.slow

POINTS = (a_point(), a_point(0.5), a_point(0.6), a_point(DEADLY), a_point(0.7), a_point(0.8))


@pytest.fixture(autouse=True)
def no_time_to_start_up(monkeypatch):
    monkeypatch.setattr(workers, "START_UP", 60.0)


def swept(folder, points, *cases):
    """Case -> the error of each point's trial, None for a sound one; and how often progress was told of it."""
    place, told = Workspace(folder, folder / "datasets"), []
    (folder / "datasets").mkdir()
    found = execute(
        [a_case(name) for name in cases],
        describe(a_variant("v2").variant, folder),
        points,
        place,
        jobs=2,
        progress=lambda done: told.append(done.case_id),
        work=explore_or_die,
    )
    return found, told


def test_a_killed_worker_costs_the_point_at_fault_and_no_other(tmp_path):
    found, told = swept(tmp_path, POINTS, "one", "two")

    for done in found:
        errors = [done.traces[index].error for index in done.which]
        assert [bool(error) for error in errors] == [point == a_point(DEADLY) for point in POINTS]
        assert "died by signal 9 (SIGKILL)" in errors[3]
    assert [done.case_id for done in found] == ["one", "two"]
    assert sorted(told) == ["one", "two"]


def test_points_explored_apart_share_a_trace_again_when_they_are_put_together(tmp_path):
    """What a divided case found is what an undivided one finds: one trace for all, and the lost one."""
    (done,), _ = swept(tmp_path, POINTS, "one")

    assert (len(done.traces), done.which) == (2, (0, 0, 0, 1, 0, 0))
