"""What a person waits for before the first word appears."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"langgraph", "langchain_core", "chromadb", "pandas", "openai", "scipy"}
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]


def a_call_for_help(script):
    """The console script, run as its entry point would be, with every import listed on stderr."""
    module, function = SCRIPTS[script].split(":")
    code = f"import sys; sys.argv = [{script!r}, '--help']; from {module} import {function} as run; sys.exit(run())"
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def the_packages_imported(done):
    return set(re.findall(r"^import time:.*\| +([a-zA-Z_]\w*)", done.stderr, flags=re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_help_is_shown_without_a_heavy_import(script):
    done = a_call_for_help(script)

    assert done.returncode == 0, done.stderr[-500:]
    assert "Usage" in done.stdout
    assert "typer" in the_packages_imported(done)
    assert not the_packages_imported(done) & HEAVY
