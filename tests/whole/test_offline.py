"""A replay needs nothing but the checkout: no network, no key, no environment, and no luck with the order of things."""

import shutil
import subprocess

import pytest

from tests.builders.checkout import evals, started

pytestmark = pytest.mark.slow

NO_NETWORK = ("unshare", "--user", "--map-root-user", "--net")


def unshare_works():
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not unshare_works(), reason="a network namespace of one's own is not permitted here")
def test_a_replay_without_a_network_exits_the_same(checkout):
    """Not even loopback is up in there; the environment is empty but for what starts Python."""
    process = started(checkout, "run", "tiny.yaml", "--fresh", "--jobs", "1", before=NO_NETWORK)

    out, err = process.communicate(timeout=300)

    assert process.returncode == 0, out + err
    assert "0 reused unchanged" in out


def test_the_environment_of_the_machine_changes_nothing(checkout, monkeypatch):
    """An agent that some deployment runs as a service is not called by a replay."""
    monkeypatch.setenv("TRIAGE_AGENT_URLS", '{"critic": "http://127.0.0.1:9"}')
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")

    assert evals(checkout, "run", "tiny.yaml", "--fresh").code == 0


def test_two_fresh_runs_and_any_number_of_jobs_give_the_same_bytes(checkout):
    written = []
    for jobs in ("1", "1", "2"):
        assert evals(checkout, "run", "tiny.yaml", "--fresh", "--jobs", jobs, "--out", "out").code == 0
        written.append([(checkout / "out" / name).read_bytes() for name in ("run.json", "index.html", "summary.md")])

    assert written[0] == written[1] == written[2]
