"""`evals dataset new`: a case to fill in, which lint refuses until it is filled in."""

from typing import get_args

import pytest

from evals.cli.main import main
from evals.triage.dataset.checks.text_checks import MARK
from evals.triage.dataset.dataset_layout import Archetype, Layout
from evals.triage.dataset.lint_dataset import run_lint
from evals.triage.dataset.load_cases import load_case, load_policy
from evals.triage.dataset.route_strictness import mutants, rejected_exemplars, strictness_of
from tests.builders.dataset import a_sound_dataset


def a_new_case(root, archetype="local_bug"):
    a_sound_dataset(root / "datasets")
    words = ("dataset", "new", "late-total", "--root", str(root), "--codebase", "shop", "--archetype", archetype)
    assert main([*words]) == 0
    return Layout(root / "datasets")


def test_every_mark_is_refused_at_its_line(tmp_path):
    layout = a_new_case(tmp_path)

    findings = run_lint(layout.root, tmp_path / ".cache", only=["late-total"])
    refused = {(f.path, f.line) for f in findings if f.check == "nothing_is_left_to_do"}
    files = (layout.labels, layout.issue, layout.patch, layout.repro)
    assert refused == {
        (str(path), number)
        for path in (name("late-total") for name in files)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MARK in line
    }


@pytest.mark.parametrize("archetype", get_args(Archetype))
def test_the_route_it_starts_from_is_sound(tmp_path, archetype):
    layout = a_new_case(tmp_path, archetype)

    spec = load_case(layout.root, "late-total", load_policy(layout.policy)).route_spec
    assert rejected_exemplars(spec) == []
    assert strictness_of(spec, tmp_path).share < 0.01
    assert all(mutant.killed for mutant in mutants(spec))


def test_a_wish_needs_no_patch(tmp_path):
    assert not a_new_case(tmp_path, "feature_request").patch("late-total").exists()


def test_the_author_is_told_what_to_do(tmp_path, capsys):
    a_new_case(tmp_path)

    assert capsys.readouterr().out.splitlines() == [
        "datasets/triage/cases/late-total/case.yaml",
        "datasets/triage/cases/late-total/issue.md",
        "datasets/triage/cases/late-total/bug.patch",
        "datasets/triage/cases/late-total/repro.py",
        "fill in every TODO(author); then: evals dataset lint --case late-total",
    ]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"case": "wrong-total"}, "is there already"),
        ({"case": "Wrong Total"}, "lower-case letters, digits and hyphens"),
        ({"codebase": "shed"}, "no such codebase; there are shop"),
        ({"archetype": "mood"}, "no such archetype; there are local_bug, "),
    ],
)
def test_what_cannot_be_made_is_refused(tmp_path, changes, complaint, capsys):
    a_sound_dataset(tmp_path / "datasets")
    wanted = {"case": "late-total", "codebase": "shop", "archetype": "local_bug"} | changes

    words = ("--codebase", wanted["codebase"], "--archetype", wanted["archetype"])
    assert main(["--root", str(tmp_path), "dataset", "new", wanted["case"], *words]) == 2
    assert complaint in capsys.readouterr().err
    assert not Layout(tmp_path / "datasets").labels("late-total").parent.exists()
