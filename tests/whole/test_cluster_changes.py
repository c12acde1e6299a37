"""A cluster that changes under a run: workers that come late, a scheduler that goes and comes back."""

import shutil

import pytest

from evals.errors import CannotJudgeError
from evals.workspace import Workspace
from tests.builders.checkout import evals
from tests.builders.ports import a_reserved_port
from tests.builders.workers import a_case_task

pytest.importorskip("distributed", reason="the extra `dask` is not installed")

from evals.runner.dask_cluster import Cluster
from tests.builders.cluster import a_scheduler, some_workers, wait_there

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch):
    """A second between two looks is long where a scheduler comes and goes within a few."""
    monkeypatch.setattr("evals.runner.dask_cluster.LOOK", 0.1)


def at(address, folder):
    """A cluster whose workers do as the variants are called."""
    return Cluster(address.removeprefix("dask://"), Workspace(folder, folder), wait_there)


def tasks(folder, *variants):
    return [a_case_task(folder, name, case_id=f"case-{number}") for number, name in enumerate(variants)]


def test_a_worker_that_joins_late_takes_its_part(tmp_path, story):
    with a_scheduler(tmp_path) as address, some_workers(story[0], tmp_path, address, nanny=False):
        finishing = at(address, tmp_path).run(tasks(tmp_path, "v2", *["wait"] * 8))
        found = [next(finishing)]
        with some_workers(story[0], tmp_path, address, nanny=False):
            (tmp_path / "go").touch()
            found += finishing

    assert len(found) == 9
    assert len({traces[0].topology for traces in found}) == 2


def test_a_scheduler_that_comes_back_in_the_middle_is_given_the_rest_again(tmp_path, story):
    """Nothing that was finished is run again, and nothing is lost."""
    with a_reserved_port() as port:
        with a_scheduler(tmp_path, port) as address, some_workers(story[0], tmp_path, address, nanny=False):
            finishing = at(address, tmp_path).run(tasks(tmp_path, "v2", *["wait"] * 3))
            found = [next(finishing)]
        (tmp_path / "go").touch()
        with a_scheduler(tmp_path, port), some_workers(story[0], tmp_path, address, nanny=False):
            found += finishing

    assert sorted(traces[0].case_id for traces in found) == ["case-0", "case-1", "case-2", "case-3"]
    assert {traces[0].error for traces in found} == {None}


def test_a_scheduler_that_stays_away_is_three_and_one_line(tmp_path, story, monkeypatch):
    monkeypatch.setattr("evals.runner.dask_cluster.CONNECT", 0.5)
    monkeypatch.setattr("evals.runner.dask_cluster.RETURN", 2.0)
    with a_reserved_port() as port:
        with a_scheduler(tmp_path, port) as address, some_workers(story[0], tmp_path, address, nanny=False):
            finishing = at(address, tmp_path).run(tasks(tmp_path, "v2", "wait"))
            next(finishing)

        with pytest.raises(
            CannotJudgeError, match="did not come back with workers within 2 s; what was finished is kept"
        ):
            next(finishing)


def test_a_cassette_that_a_worker_has_not_is_named(checkout, tmp_path):
    elsewhere = shutil.copytree(checkout, tmp_path / "elsewhere")
    (elsewhere / "cassettes" / "wrong-sum.yaml").unlink()
    with a_scheduler(tmp_path) as address, some_workers(elsewhere, tmp_path, address, nanny=False):
        said = evals(checkout, "run", "tiny.yaml", "--fresh", "--scheduler", address)

    assert said.code == 3
    assert "a worker's checkout has no cassettes/wrong-sum.yaml, or another case, prompt or code" in said.out
