"""Kept trials and the list of packages they follow from."""

import sys
from types import ModuleType

import pytest

from evals import package_digests as libraries
from evals.package_digests import Libraries, signature
from evals.runner.trial_cache import LIST, ChangedError, Keeper
from tests.builders.dataset import write
from tests.builders.trace import a_trace


@pytest.fixture
def imports(tmp_path, monkeypatch):
    """Write a module into a folder of installed packages and import it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(libraries, "_site", lambda: str(folder))
    monkeypatch.setattr(libraries, "_SITES", (str(folder),))
    monkeypatch.setattr(libraries, "STARTED_NS", signature(folder)[2] + 10**12)

    def imported(name):
        module = ModuleType(name)
        module.__file__ = str(write(folder / name / "__init__.py", f"NAME = {name!r}\n"))
        monkeypatch.setitem(sys.modules, name, module)
        return folder / name / "__init__.py"

    return imported


def test_trials_stay_kept_when_a_later_trial_imports_another_package(tmp_path, imports):
    """The list grows in the workers while the run is under way."""
    imports("first")
    Libraries(tmp_path, LIST).note()
    run = Keeper(tmp_path)
    run.put("a", a_trace())
    run.flush()
    imports("second")
    Libraries(tmp_path, LIST).note()
    run.put("b", a_trace())
    run.close()

    again = Keeper(tmp_path)
    assert not again.may_lack(["a", "b"])
    assert again.get("a") == again.get("b") == a_trace()


def test_trials_stay_kept_when_another_suite_imports_another_package(tmp_path, imports):
    imports("first")
    Libraries(tmp_path, LIST).note()
    run = Keeper(tmp_path)
    run.put("a", a_trace())
    run.close()
    for name in ("second", "third"):
        imports(name)
        Libraries(tmp_path, LIST).note()

    assert Keeper(tmp_path).get("a") == a_trace()


def test_no_trial_is_found_when_a_package_has_changed_since_whichever_list_it_is_on(tmp_path, imports):
    first = imports("first")
    Libraries(tmp_path, LIST).note()
    run = Keeper(tmp_path)
    run.put("a", a_trace())
    run.close()
    imports("second")
    Libraries(tmp_path, LIST).note()
    first.write_text("NAME = 'another'\n")
    Libraries(tmp_path, LIST).note()

    assert Keeper(tmp_path).get("a") is None


def test_a_trial_is_not_kept_when_a_listed_package_has_changed(tmp_path, imports):
    first = imports("first")
    Libraries(tmp_path, LIST).note()
    run = Keeper(tmp_path)
    run.put("a", a_trace())
    first.write_text("NAME = 'another'\n")

    with pytest.raises(ChangedError, match="installed packages"):
        run.close()
