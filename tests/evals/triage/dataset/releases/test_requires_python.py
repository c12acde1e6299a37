"""A release that does not run on every Python: where it does not its cases are not proved, and lint says so."""

import json
import platform

import pytest

from evals.triage.cli.dataset_commands import lint
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.lint_dataset import run_lint
from evals.triage.dataset.package_store import Shelf
from tests.builders.released import CASE, FAULTY, MENDED, a_released_dataset, a_wheel

ANOTHER = f"!={platform.python_version()}"
NO_PYTHON_OF_TODAY = {"shop/__init__.py": "raise TypeError('what dataclasses once allowed')\n"}


@pytest.fixture
def checkout(tmp_path):
    """A dataset with one case, fetched, to be told of its old release what that requires, and its text if not sound."""

    def about(requires_python="", **others):
        folder = tmp_path / "links"
        releases = [a_wheel(folder, "1.0", FAULTY | others.get("files", {})), a_wheel(folder, "1.1", MENDED)]
        shelf = Shelf(tmp_path / ".cache")
        for release, wheel in zip(releases, sorted(folder.iterdir()), strict=True):
            shelf.keep(release, wheel)
            shelf.put(release)
        root = a_released_dataset(tmp_path / "datasets", *releases)
        if requires_python:
            with (Layout(root).codebase("shop-1.0") / "codebase.yaml").open("a") as file:
                file.write(f"requires_python: '{requires_python}'\n")
        return tmp_path

    return about


def found(checkout):
    findings = run_lint(checkout / "datasets", checkout / ".cache")
    return [(each.check, each.message) for each in findings if each.check != "splits_are_filled"]


def test_a_release_that_this_python_cannot_run_proves_nothing(checkout):
    (one,) = found(checkout(files=NO_PYTHON_OF_TODAY))
    assert one[0] == "gold_alone_brings_the_fault_back"
    assert "fails by AssertionError, the release by TypeError" in one[1]


def test_where_it_says_so_nothing_is_found_and_the_case_is_said_to_be_unproved(checkout, capsys):
    root = checkout(ANOTHER, files=NO_PYTHON_OF_TODAY)
    assert found(root) == []

    lint(root=root, jobs=1)

    said = f"whether {CASE} is proved: shop 1.0 requires Python {ANOTHER}, and this is {platform.python_version()}"
    assert f"not checked: {said}" in capsys.readouterr().out

    lint(root=root, jobs=1, as_json=True)
    told = capsys.readouterr()
    assert [one["check"] for one in json.loads(told.out)] == ["splits_are_filled"]
    assert f"not checked: {said}" in told.err


def test_what_static_checks_find_is_found_there_all_the_same(checkout):
    root = checkout(ANOTHER, files=NO_PYTHON_OF_TODAY | {"shop/cart.py": MENDED["shop/cart.py"]})
    assert "gold_differs_between_the_releases" in dict(found(root))


def test_a_release_that_runs_may_not_be_left_out(checkout):
    assert found(checkout(ANOTHER)) == [
        (
            "python_cannot_run_it",
            f"leaves out Python {platform.python_version()}, which proves {CASE} all the same; take it out",
        )
    ]


def test_a_release_that_runs_here_is_proved_whatever_it_requires(checkout, capsys):
    root = checkout(">=3.11")
    assert found(root) == []
    lint(root=root, jobs=1)
    assert "is proved" not in capsys.readouterr().out


def test_what_is_no_version_specifier_is_refused(checkout):
    assert "requires_python" in dict(found(checkout("three")))["schema"]
