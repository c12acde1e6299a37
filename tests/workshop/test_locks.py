"""The lock files install anywhere: every requirement pinned and hashed, no registry's address, no path of a machine."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-llm.lock", "requirements-bench.lock", "requirements-dask.lock")


def a_name(requirement):
    return re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def the_pins(lock):
    """Requirement lines and the hashes below each."""
    joined = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_path(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")

    assert not re.findall(r"(?i)://|index-url|find-links|file:|^\s*/|(?<=[\s=])/\w+", text)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_in_a_lock_is_pinned_and_hashed(lock):
    pins = the_pins(lock)

    assert pins
    assert all(re.match(r"[\w.-]+==\S+.*--hash=sha256:[0-9a-f]{64}", pin) for pin in pins)


def test_the_lock_holds_everything_the_project_asks_for():
    """A dependency added to pyproject.toml without `make lock` would be missing in a fresh checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    whole = f"{project['name']}[triage,langsmith,otlp,gepa]"
    asked = [
        *project["dependencies"],
        *(each for name in ("triage", "langsmith", "otlp", "gepa", "dev") for each in extras[name]),
    ]
    asked.remove(whole)  # how `dev`, from which the lock is made, asks for the other four

    assert {a_name(each) for each in asked} <= {a_name(pin) for pin in the_pins("requirements.lock")}


def test_the_extra_for_a_cluster_is_what_its_lock_is_made_of():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = (ROOT / "requirements-dask.in").read_text(encoding="utf-8").splitlines()

    assert extras["dask"] == [line for line in asked if not line.startswith(("#", "-c"))]


def test_the_lock_brings_the_build_backend():
    """The editable install builds without isolation, so without a look at a registry."""
    assert "setuptools" in {a_name(pin) for pin in the_pins("requirements.lock")}
