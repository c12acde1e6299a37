"""`evals selftest` on a recorded checkout: every fault is caught, and a gate that sleeps is noticed."""

import os
import shutil
import signal

import pytest

from evals.models.analysis_results import SelfTest
from evals.pipeline.selftest_suite import SelfTestStep
from evals.runner import worker_pool as workers
from tests.builders.at_once import evals_at_once
from tests.builders.checkout import cassettes, evals
from tests.builders.waiting import until

pytestmark = pytest.mark.slow

PLANTED = (
    "needless option",
    "worse prompt",
    "edited scorer",
    "broken scorer",
    "corrupted label",
    "swapped cassettes",
    "cut cassette",
)


@pytest.fixture(scope="module")
def tested(story, tmp_path_factory):
    """A recorded checkout after one self-test in one process, and what that said."""
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("tested") / "checkout")
    return checkout, evals(checkout, "selftest", "tiny.yaml", "--draws", "20")


def test_every_planted_fault_is_caught(tested):
    _, said = tested
    rows = {name: next(line for line in said.out.splitlines() if line.startswith(name)) for name in PLANTED}

    assert said.code == 0, said.out
    assert all("yes" in row for row in rows.values())
    assert "2 of 2 traces of old are the same when replayed again" in said.out


def test_what_was_found_is_kept_as_a_page_and_as_json(tested):
    reports = tested[0] / "reports/selftest"
    stored = SelfTest.model_validate_json((reports / "selftest.json").read_text())

    assert stored.sentence in (reports / "index.html").read_text()
    assert {fault.name for fault in stored.faults} > set(PLANTED)


def test_it_is_the_same_however_many_processes_share_its_steps(tested, checkout):
    assert evals(checkout, "selftest", "tiny.yaml", "--draws", "20", "--jobs", "2").code == 0

    one, two = (folder / "reports/selftest/selftest.json" for folder in (tested[0], checkout))
    assert one.read_text() == two.read_text()


def test_nothing_in_the_checkout_is_changed(tested, checkout):
    assert cassettes(tested[0]) == cassettes(checkout)


def test_a_step_that_is_lost_is_no_fault_that_was_caught(checkout, monkeypatch):
    """Faults make a suite unjudgeable; that a process died says nothing of them."""
    monkeypatch.setattr(workers, "START_UP", 0.0)
    monkeypatch.setattr(SelfTestStep, "patience", 0.0)

    said = evals(checkout, "selftest", "tiny.yaml", "--draws", "20", "--jobs", "2")

    assert said.code == 3
    assert "self-test, drawn comparisons: it did not end within 0 s" in said.err


def test_an_interrupt_leaves_no_copies_behind(checkout, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = evals_at_once(checkout, "selftest", "tiny.yaml", "--jobs", "2", TMPDIR=str(scratch))
    until(lambda: process.poll() is not None or any(scratch.glob("evals-selftest-*/*/cassettes")), every_s=0.01)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=300)

    assert process.returncode == 130
    assert list(scratch.glob("evals-selftest-*")) == []


def test_a_gate_that_lets_a_failure_pass_is_noticed(checkout, monkeypatch):
    """The rule about failed scorers is taken out: one fault is not caught any more."""
    from evals.comparison import gate

    monkeypatch.setattr(gate, "CANNOT_JUDGE", gate.CANNOT_JUDGE[1:])

    said = evals(checkout, "selftest", "tiny.yaml", "--draws", "20")

    row = next(line for line in said.out.splitlines() if line.startswith("broken scorer"))
    assert said.code == 1
    assert "NO" in row


def test_a_suite_that_is_not_green_proves_nothing(checkout):
    for name in cassettes(checkout):
        (checkout / "cassettes" / name).unlink()

    said = evals(checkout, "selftest", "tiny.yaml", "--draws", "20")

    assert said.code == 3
    assert "must be green before faults are planted" in said.err


def test_options_that_change_nothing_and_switch_the_baseline_off_are_noticed(checkout, monkeypatch):
    """Were every option that is given taken for a change, one fault would pass: the baseline alone can see it."""
    from evals.pipeline import load_suite as select

    monkeypatch.setattr(select, "_unblessed", lambda *_: ("--samples 1",))

    said = evals(checkout, "selftest", "tiny.yaml", "--draws", "20")

    row = next(line for line in said.out.splitlines() if line.startswith("needless option"))
    assert (said.code, "NO" in row) == (1, True)
