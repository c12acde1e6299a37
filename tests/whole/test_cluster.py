"""A run on a real Dask cluster, whose workers stand in another checkout: the same bytes, or one clear line."""

import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from evals.workspace import Workspace
from tests.builders.checkout import evals
from tests.builders.ports import a_reserved_port
from tests.builders.workers import a_case_task

pytestmark = pytest.mark.slow

FILES = ("run.json", "index.html", "summary.md", "junit.xml")


@pytest.fixture(scope="module")
def elsewhere(story, tmp_path_factory):
    """The workers' checkout, recorded like the other but without a result."""
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("elsewhere") / "checkout")
    shutil.rmtree(checkout / ".cache")
    return checkout


@pytest.fixture(scope="module")
def cluster(elsewhere, tmp_path_factory):
    """Its address, with two workers."""
    from tests.builders.cluster import a_cluster

    with a_cluster(elsewhere, tmp_path_factory.mktemp("cluster")) as address:
        yield address


def test_a_cluster_gives_the_bytes_of_a_local_run(checkout, cluster):
    whole = evals(checkout, "run", "tiny.yaml", "--out", "local")

    said = evals(checkout, "run", "tiny.yaml", "--fresh", "--scheduler", cluster, "--out", "dask")

    assert (said.code, said.err) == (whole.code, "") == (0, ""), said.out
    assert "0 reused unchanged" in said.out
    for name in FILES:
        assert (checkout / "dask" / name).read_bytes() == (checkout / "local" / name).read_bytes()


def test_what_came_from_a_cluster_is_reused_on_one_and_run_again_here(checkout, cluster):
    """Packages of other machines are compared by version only, so their traces are kept apart."""
    shutil.rmtree(checkout / ".cache" / "trials")

    evals(checkout, "run", "tiny.yaml", "--scheduler", cluster)

    assert "4 reused unchanged" in evals(checkout, "run", "tiny.yaml", "--scheduler", cluster).out
    assert "0 reused unchanged" in evals(checkout, "run", "tiny.yaml").out


def test_a_shard_is_run_on_a_cluster_as_well(checkout, cluster):
    words = ("run", "tiny.yaml", "--fresh", "--shard", "1/2")
    evals(checkout, *words, "--out", "here.json")

    evals(checkout, *words, "--scheduler", cluster, "--out", "there.json")

    assert (checkout / "there.json").read_bytes() == (checkout / "here.json").read_bytes()


def test_a_worker_with_another_recording_answers_nothing(checkout, cluster):
    """The gate is told; nothing of the other recording is scored."""
    with (checkout / "cassettes" / "wrong-sum.yaml").open("a") as cassette:
        cassette.write("\n")

    said = evals(checkout, "run", "tiny.yaml", "--fresh", "--scheduler", cluster)

    assert said.code == 3
    assert "a worker's checkout has another case, prompt, cassette or code" in said.out


def test_a_trial_out_of_time_is_a_failed_trial_there_as_well(checkout, cluster):
    said = evals(checkout, "run", "tiny.yaml", "--fresh", "--scheduler", cluster, "--set", "trial_timeout=0.01")

    assert said.code == 3
    assert "the trial did not end within 0.01 s" in said.out


def test_a_worker_process_that_is_killed_costs_nothing(checkout, cluster):
    """Its nanny starts another; whatever it had is run again."""
    from tests.builders.cluster import worker_pids

    evals(checkout, "run", "tiny.yaml", "--out", "local")
    words = ("run", "tiny.yaml", "--fresh", "--scheduler", cluster, "--out", "dask")
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(evals, checkout, *words)
        os.kill(worker_pids(cluster)[0], signal.SIGKILL)
        said = running.result()

    assert said.code == 0, said.out + said.err
    assert (checkout / "dask" / "run.json").read_bytes() == (checkout / "local" / "run.json").read_bytes()


def test_a_trial_that_kills_every_worker_is_a_failed_trial_and_the_others_are_kept(tmp_path, cluster):
    from evals.runner.dask_cluster import Cluster
    from tests.builders.cluster import act_there

    there = Cluster(cluster.removeprefix("dask://"), Workspace(tmp_path, tmp_path), act_there)

    found = {
        trace.variant: trace.error for traces in there.run([a_case_task(tmp_path, "v2", "kill")]) for trace in traces
    }

    assert found["v2"] is None
    assert found["kill"].startswith("the worker processes it was given to died")


def test_a_trial_that_waited_on_a_worker_that_died_is_not_lost_with_it(tmp_path, elsewhere):
    """One worker has both; each of its deaths makes Dask suspect the trial behind the deadly one, too."""
    from evals.runner.dask_cluster import Cluster
    from tests.builders.cluster import NEEDED, a_cluster, act_there

    with a_cluster(elsewhere, tmp_path, workers=1, needed=NEEDED) as address:
        there = Cluster(address.removeprefix("dask://"), Workspace(tmp_path, tmp_path), act_there)
        tasks = [a_case_task(tmp_path, "kill"), a_case_task(tmp_path, "v2")]
        found = {trace.variant: trace.error for traces in there.run(tasks) for trace in traces}

    assert found["v2"] is None
    assert found["kill"].startswith("the worker processes it was given to died")


def test_workers_of_another_version_of_the_code_are_refused(checkout, cluster):
    (checkout / "requirements.lock").write_text("other libraries\n")

    said = evals(checkout, "run", "tiny.yaml", "--scheduler", cluster)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "runs another version of the code than is here; bring its checkout to this state" in said.err


def test_workers_that_run_several_tasks_at_once_are_refused(checkout, elsewhere, tmp_path):
    from tests.builders.cluster import NEEDED, a_cluster

    with a_cluster(elsewhere, tmp_path, workers=1, threads=2, needed=NEEDED) as address:
        said = evals(checkout, "run", "tiny.yaml", "--scheduler", address)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "runs 2 tasks at once; start it with --nthreads 1" in said.err


def test_nobody_there_is_three_and_one_line(checkout, elsewhere, monkeypatch):
    monkeypatch.setattr("evals.runner.dask_cluster.CONNECT", 1.0)
    with a_reserved_port() as port:
        address = f"dask://127.0.0.1:{port}"
        said = evals(checkout, "run", "tiny.yaml", "--scheduler", address)

    assert (said.code, said.err) == (
        3,
        f"evals: {address}: no scheduler answers there; start one with `.venv/bin/dask scheduler`\n",
    )


def test_without_the_extra_the_line_says_how_to_install_it(checkout, monkeypatch):
    monkeypatch.delitem(sys.modules, "evals.runner.dask_cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed

    said = evals(checkout, "run", "tiny.yaml", "--scheduler", "dask://127.0.0.1:8786")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "pip install 'triage-evals[dask]'" in said.err
