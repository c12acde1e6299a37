"""What a process executes and reads by itself is compared with what its trials are named by."""

import json
import os
import subprocess
import sys

import pytest

from evals.application_pack import load_pack
from evals.errors import EXIT_CANNOT_JUDGE
from evals.package_digests import signature
from evals.paths import PACKAGE
from evals.runner import trial_cache as module
from evals.runner.trial_cache import ChangedError, Pins, code_digests, read_files
from evals.source_loader import executed
from evals.workspace import Workspace
from tests.builders.facts import a_variant

TELL = """
import json, evals.runner.preloaded_imports, evals.runner.case_task
from evals.source_loader import executed
print(json.dumps(list(executed())))
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "cassettes").mkdir()
    (tmp_path / "cassettes" / "vectors.npz").write_bytes(b"one")
    return Workspace(tmp_path, tmp_path / "datasets")


def test_what_nobody_touched_is_as_pinned(place):
    Pins.of([a_variant("v3")], place).check()


def test_a_file_that_was_changed_and_put_back_is_not_as_pinned(place):
    """Its content, size and time are as before; its entry was written."""
    pins = Pins.of([a_variant("v3")], place)
    place.vectors.write_bytes(b"two")
    place.vectors.write_bytes(b"one")

    with pytest.raises(ChangedError, match=r"changed while the run was under way: vectors\.npz; run it again") as found:
        pins.check()
    assert found.value.exit_code == EXIT_CANNOT_JUDGE


def test_a_change_a_moment_before_is_waited_out_as_one_just_after_would_not_show(place, monkeypatch):
    slept = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    monkeypatch.setattr(module.time, "time_ns", lambda: signature(place.vectors)[-1] + 1)
    Pins.of([], place)

    assert slept == [module.TICK]


def test_code_is_compared_as_it_is_executed_and_not_as_it_stands_there(place, monkeypatch):
    pins = Pins.of([], place)
    path = str(PACKAGE / "models" / "trace.py")
    monkeypatch.setattr(module, "executed", lambda: {**executed(), path: "0" * 64})

    assert pins.changed() == ["evals/models/trace.py"]


def test_what_no_trial_depends_on_may_change(place, monkeypatch):
    pins = Pins.of([], place)
    path = str(PACKAGE / "report" / "render.py")
    monkeypatch.setattr(module, "executed", lambda: {**executed(), path: "0" * 64})

    assert pins.changed() == []


def test_the_prompts_of_agents_and_the_plan_of_a_variant_are_pinned(place):
    variant = a_variant("p")
    planned = variant.model_copy(update={"variant": variant.variant.model_copy(update={"plan": "linear"})})
    files = {path.rpartition("triage/")[2] for path in Pins.of([planned], place).files}

    assert {"prompts/agents/writer_report.md", "plans/linear.yaml"} <= files
    assert len(read_files(load_pack(), PACKAGE.parent)) >= 6


def test_whatever_a_worker_loads_of_own_code_is_in_the_digest_of_trials():
    """A module more that a trial depends on cannot be forgotten: the server of all workers says what it has loaded."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE.parent)}
    said = subprocess.run([sys.executable, "-c", TELL], env=kept, capture_output=True, check=True).stdout
    known = {str(path) for path in code_digests(load_pack(), PACKAGE.parent)}

    assert [path for path in json.loads(said) if path not in known] == [str(PACKAGE / "__init__.py")]


def test_a_module_of_a_target_that_is_edited_during_a_run_is_noticed(tmp_path):
    """Our loader does not load it, so nobody knows which text of it a worker has executed."""
    (tmp_path / "evals.toml").write_text("[target]\n")
    (tmp_path / "langgraph.json").write_text('{"graphs": {"agent": "./agent.py:graph"}}')
    (tmp_path / "agent.py").write_text("graph = None\n")
    pins = Pins.of([], Workspace(tmp_path, tmp_path / "evaluation"))
    assert pins.changed() == []
    (tmp_path / "agent.py").write_text("graph = None  # edited\n")

    assert pins.changed() == ["agent.py"]
