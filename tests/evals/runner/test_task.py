"""One case's task: whatever breaks comes back as failed trials with one line each, never as an exception."""

import asyncio
from dataclasses import replace

import pytest

from evals.cassettes.cassette_data import Cassette
from evals.errors import DatasetError
from evals.runner.case_task import CaseTask, run_case
from evals.triage import recorded_graph as replay
from tests.builders.case import a_case
from tests.builders.facts import a_variant
from tests.builders.trace import a_trace


def a_task(folder):
    variants = (a_variant("v2").variant, a_variant("v3").variant)
    cassette = folder / "cassettes" / "case.yaml"
    return CaseTask(a_case(), variants, 0, cassette, folder / "datasets", folder, folder / "vectors.npz")


@pytest.mark.parametrize(
    ("error", "said"), [(DatasetError("the patch"), "the patch"), (ValueError("a\nb"), "ValueError: a")]
)
def test_an_unforeseen_error_is_a_failed_trial(tmp_path, monkeypatch, error, said):
    """With one job or many: the gate is told, and the other cases go on."""

    def explode(*_):
        raise error

    monkeypatch.setattr(replay, "replay_case", explode)  # a fault that cannot be had otherwise

    traces = run_case(a_task(tmp_path))

    assert [(trace.variant, trace.provenance.label, trace.error) for trace in traces] == [
        ("v2", "failed", said),
        ("v3", "failed", said),
    ]


def test_a_corrupt_cassette_is_a_failed_trial_that_names_it(tmp_path):
    """Below the checkout: a result must not say where on a machine that is."""
    task = a_task(tmp_path)
    task.cassette.parent.mkdir()
    task.cassette.write_text("no cassette")

    errors = {trace.error for trace in run_case(task)}

    assert len(errors) == 1
    assert errors.pop().startswith("cassettes/case.yaml")


def test_a_dataset_elsewhere_leaves_no_folder_in_an_error_either(tmp_path):
    """The cassettes stay in the checkout, wherever the dataset is."""
    task = replace(a_task(tmp_path), datasets=tmp_path / "elsewhere" / "foreign")
    task.cassette.parent.mkdir()
    task.cassette.write_text("no cassette")

    assert {trace.error.partition(":")[0] for trace in run_case(task)} == {"cassettes/case.yaml"}


def test_a_trial_that_waits_for_ever_fails_alone(tmp_path, monkeypatch):
    """The next variant of the same case goes on in the same worker."""

    async def run_trial(subject, case, tape):
        await asyncio.sleep(600 if subject == "v2" else 0)
        return a_trace(case_id=case.id, variant=subject)

    monkeypatch.setattr(replay, "run_trial", run_trial)  # a graph that hangs cannot be had on purpose
    monkeypatch.setattr(replay, "materialise", lambda *_: None)
    monkeypatch.setattr(replay.IndexedCode, "at", lambda *_: None)
    monkeypatch.setattr(replay.CaseTarget, "of", lambda variant, *_: variant.name)

    first, second = replay.replay_case(replace(a_task(tmp_path), timeout_s=0.05), Cassette(tmp_path / "case.yaml"))

    assert first.error == "the trial did not end within 0.05 s; `--set trial-timeout=S` gives it more"
    assert second.provenance.label == "exact"
