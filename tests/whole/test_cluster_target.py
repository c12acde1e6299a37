"""Trials of a project's own graph on a Dask cluster, also of variants that run other files."""

import shutil

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals
from tests.builders.git import committed, git

pytestmark = pytest.mark.slow

SUITE = """
models: {default: claude, tokens_counted_by: cl100k_base}
cases: {ids: [charged-twice]}
variants:
  - {name: before, config: {router: v1}, revision: main}
  - {name: now, config: {router: v1}}
"""


def test_a_cluster_gives_the_trials_of_a_local_run_for_a_revision_too(tmp_path):
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    from tests.builders.cluster import NEEDED, a_cluster

    project = copied("support", tmp_path)
    write(project / "evaluation" / "suites" / "one.yaml", SUITE)
    git(project, "init", "--initial-branch=main")
    committed(project, "all")
    local = evals(project, "run", "one", "--out", "reports/local")
    elsewhere = shutil.copytree(project, tmp_path / "elsewhere", ignore=shutil.ignore_patterns(".cache", "reports"))
    (tmp_path / "cluster").mkdir()

    with a_cluster(elsewhere, tmp_path / "cluster", workers=1, needed=NEEDED) as address:
        said = evals(project, "run", "one", "--fresh", "--scheduler", address, "--out", "reports/dask")

    assert said[0] == local[0] == 3, said[1]
    kept = [project / "reports" / name / "run.json" for name in ("dask", "local")]
    assert kept[0].read_bytes() == kept[1].read_bytes()
