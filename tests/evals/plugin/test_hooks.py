"""What every start of pytest pays for us, wherever this project is installed: next to nothing."""

import re
import subprocess
import sys

HEAVY = {"langgraph", "langchain_core", "chromadb", "pandas", "numpy", "openai", "pydantic", "yaml"}


def imported(folder, *words):
    """Modules that a start of pytest loads in an empty folder, and what it said."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pytest", "-p", "no:langsmith_plugin", "-p", "no:anyio", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return set(re.findall(r"^import time:.*\| +([a-zA-Z_][\w.]*)", done.stderr, flags=re.MULTILINE)), done.stdout


def test_a_session_without_us_loads_the_hooks_and_nothing_else(tmp_path):
    (tmp_path / "test_theirs.py").write_text("def test_theirs(): pass\n")

    seen, said = imported(tmp_path, "-q", "-s")

    assert "1 passed" in said
    assert {name for name in seen if name.startswith("evals")} == {"evals", "evals.plugin", "evals.plugin.hooks"}
    assert not {name.partition(".")[0] for name in seen} & HEAVY


def test_no_mark_is_registered_where_no_suite_is_asked_for(tmp_path):
    _, said = imported(tmp_path, "--markers")

    assert "@pytest.mark.evals" not in said


def test_a_fixture_of_their_own_with_the_name_of_ours_is_theirs(tmp_path):
    (tmp_path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef replayed(): return 7\n")
    (tmp_path / "test_theirs.py").write_text("def test_theirs(replayed): assert replayed == 7\n")

    _, said = imported(tmp_path, "-q", "-s")

    assert "1 passed" in said
