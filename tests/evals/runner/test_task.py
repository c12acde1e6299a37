"""One case's task: whatever breaks comes back as failed trials with one line each, never as an exception."""

from dataclasses import replace

import pytest

from evals.errors import DatasetError
from evals.runner import replay
from evals.runner.task import CaseTask, run_case
from tests.builders.case import a_case
from tests.builders.facts import a_variant


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
