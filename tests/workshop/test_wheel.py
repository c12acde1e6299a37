"""The wheel: it holds every file of both packages, and its command runs outside the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.builders.installed import ROOT, built_wheel, pip, tracked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_file_of_both_packages(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())

    assert [path for path in tracked() if path.as_posix() not in names] == []


def test_the_installed_command_shows_its_help_without_a_checkout(wheel, tmp_path):
    place, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip("install", "--no-deps", "--no-index", "--target", str(place), str(wheel))
    where = "import evals; print(evals.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(place)}

    found = subprocess.check_output([sys.executable, "-c", where], cwd=elsewhere, env=environment, text=True)
    done = subprocess.run(
        [place / "bin" / "evals", "--help"],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert Path(found.strip()).is_relative_to(place)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: evals" in done.stdout


def test_the_changelog_has_an_entry_for_the_version_of_the_wheel(wheel):
    version = wheel.name.split("-")[1]

    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
