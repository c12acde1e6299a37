"""What every start of pytest pays for us, wherever this project is installed: next to nothing."""

import subprocess
import sys

HEAVY = {"langgraph", "langchain_core", "chromadb", "pandas", "openai", "yaml", "rich"}
TELLS = "import sys\ndef test_theirs(): print('loaded', *sys.modules)\n"


def started(folder, *words):
    """What pytest said, started in a folder that knows nothing of us."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:langsmith_plugin", "-p", "no:anyio", "-p", "no:recording", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_a_session_without_us_loads_hooks_and_fixtures_and_nothing_else(tmp_path):
    (tmp_path / "test_theirs.py").write_text(TELLS)

    said = started(tmp_path, "-q", "-s")

    loaded = set(next(line for line in said.splitlines() if line.startswith("loaded")).split())
    assert "1 passed" in said
    assert {name for name in loaded if name.startswith("evals")} == {
        "evals",
        "evals.errors",
        "evals.gc_pause",
        "evals.package_digests",
        "evals.source_loader",
        "evals.application_pack",
        "evals.paths",
        "evals.plugin",
        "evals.plugin.hooks",
        "evals.project",
        "evals.triage",
        "evals.triage.nodes",
        "evals.triage.pack",
        "evals.triage.pytest_fixtures",
    }
    assert not loaded & HEAVY


def test_no_mark_is_registered_where_no_suite_is_asked_for(tmp_path):
    assert "@pytest.mark.evals" not in started(tmp_path, "--markers")


def test_a_fixture_of_their_own_with_the_name_of_ours_is_theirs(tmp_path):
    (tmp_path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef replayed(): return 7\n")
    (tmp_path / "test_theirs.py").write_text("def test_theirs(replayed): assert replayed == 7\n")

    assert "1 passed" in started(tmp_path, "-q")
