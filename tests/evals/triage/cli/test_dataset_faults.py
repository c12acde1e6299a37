"""Every fault planted into a sound dataset is reported by `evals dataset lint`, at its file and line."""

import pytest

from evals.cli.main import main
from evals.triage.dataset.lint_dataset import (
    CASE_CHECKS,
    CODEBASE_CHECKS,
    CORPUS_CHECKS,
    OWN_CASE_CHECKS,
    OWN_CORPUS_CHECKS,
)
from evals.workspace import Workspace
from tests.builders.dataset import a_sound_dataset
from tests.builders.dataset_faults import FAULTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Shared, so that each test only pays for what it changes."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def checkout(tmp_path, monkeypatch, cache):
    """A checkout with a sound dataset."""
    monkeypatch.setattr(Workspace, "cache", cache)
    a_sound_dataset(tmp_path / "datasets")
    return tmp_path


def lint(checkout, capsys):
    """Exit code and the lines `path:line: case: check: message` as (path, line, check)."""
    code = main(["dataset", "lint", "--root", str(checkout), "--jobs", "1"])
    found = []
    for line in capsys.readouterr().out.splitlines()[:-1]:
        path, number, _, check, *_ = line.split(":", 4)
        found.append((path, int(number), check.strip()))
    return code, found


def test_a_sound_dataset_has_nothing_to_report(checkout, capsys):
    assert lint(checkout, capsys) == (0, [])


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{number}-{fault.check}" for number, fault in enumerate(FAULTS)])
def test_a_planted_fault_is_reported_at_its_file_and_line(checkout, capsys, fault):
    fault.plant(checkout / "datasets")

    code, found = lint(checkout, capsys)
    places = [(path, line) for path, line, check in found if check == fault.check and path.endswith(fault.file)]
    assert code == 1
    assert [line for path, line in places if fault.on_line in line_of(checkout, path, line)], found


def test_no_check_is_without_a_planted_fault():
    checks = (*CASE_CHECKS, *OWN_CASE_CHECKS, *CODEBASE_CHECKS, *CORPUS_CHECKS, *OWN_CORPUS_CHECKS)

    assert {check.__name__ for check in checks} - {fault.check for fault in FAULTS} == set()


def line_of(checkout, path, number):
    """What stands on a line; nothing where the file is not there, or is a folder."""
    file = checkout / path
    return file.read_text(encoding="utf-8").splitlines()[number - 1] if file.is_file() else ""
