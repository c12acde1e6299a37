"""`evals dataset show --counts`: cases counted by archetype and split, and by everything else that is labelled."""

import contextlib
import io
import json

from evals.triage.cli.dataset_commands import stats
from tests.builders.dataset import a_case_file, a_sound_dataset, relabel

POINT = {"id": "start", "state": {}, "accept": {"investigator": 1.0, "critic": 0.5}, "why": "It comes first."}


def a_checkout(root):
    a_sound_dataset(root / "datasets")
    relabel(root / "datasets", a_case_file(decision_points=[POINT]))
    return root


def lines(root):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        stats(root=a_checkout(root))
    return [" ".join(line.replace("│", " ").split()) for line in said.getvalue().splitlines()]


def test_archetypes_are_counted_by_split(tmp_path):
    assert "local_bug 1 1" in lines(tmp_path)


def test_severities_are_counted(tmp_path):
    assert "severity HIGH 1" in lines(tmp_path)


def test_the_same_counts_come_as_json(tmp_path, capsys):
    stats(root=a_checkout(tmp_path), as_json=True)

    counted = json.loads(capsys.readouterr().out)
    assert counted["cases"] == 2
    assert counted["archetypes"]["local_bug"] == {"tune": 1, "gate": 0, "holdout": 0}
    assert counted["best_answers"]["investigator"] == 1
    assert counted["best_answers"]["critic"] == 0


def test_another_dataset_can_be_counted(tmp_path, capsys):
    a_checkout(tmp_path)
    stats(root=tmp_path, dataset=a_sound_dataset(tmp_path / "other"), as_json=True)

    assert json.loads(capsys.readouterr().out)["decision_points"] == 0


def test_a_label_that_is_only_a_default_is_not_counted(tmp_path, capsys):
    a_checkout(tmp_path)
    labels = a_case_file(tags=["unlabelled:severity", "unlabelled:archetype"])
    relabel(tmp_path / "datasets", labels)
    stats(root=tmp_path, as_json=True)

    counted = json.loads(capsys.readouterr().out)
    assert counted["slices"]["severity"] == {"(unlabelled)": 1, "LOW": 1}
    assert counted["archetypes"]["(unlabelled)"]["tune"] == 1
