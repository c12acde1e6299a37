"""The projects in `docs/examples/`: judged from what is committed, and the tutorial as typed."""

import re
from pathlib import Path

import pytest

from tests.builders.example_projects import ROOT, SUITES, copied, evals_of, live_model, say, shell, the_core

pytestmark = pytest.mark.slow

TYPED = re.compile(r"^    (.+?)(?: +# .*?exit (\d).*)?$", flags=re.MULTILINE)
OURS = ("evals.toml", "evaluation/suites/*.yaml", "evaluation/*.py")
MOST_OF_OURS = 60
SET_UP = ("make", "cp -r", "cd", "export")
"""Lines of the tutorial that the test has done already."""


def test_at_most_60_lines_of_an_example_are_there_because_of_the_harness():
    for name in SUITES:
        files = [file for pattern in OURS for file in (ROOT / "docs" / "examples" / name).glob(pattern)]

        assert files
        assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= MOST_OF_OURS


def test_the_graph_of_an_example_imports_nothing_of_ours():
    for name in SUITES:
        for file in (ROOT / "docs" / "examples" / name).rglob("*.py"):
            assert not re.search(r"^\s*(?:from|import) (?:evals|triage|tests)\b", file.read_text("utf-8"), re.MULTILINE)


def test_the_committed_recordings_show_the_shortened_prompt_to_be_worse_also_without_triage(tmp_path):
    lines = [
        line
        for name, suite in SUITES.items()
        for line in (
            f"cd {copied(name, tmp_path)}",
            f"run {suite} --jobs 1",
            f"compare v1 v2 --suite {suite} --jobs 1",
            f"metrics {suite} --jobs 1",
        )
    ]
    codes, said = evals_of(the_core(tmp_path / "core"), tmp_path, *lines)

    assert codes == [0, 0, 1, 0] * len(SUITES), said
    for words in ("v1 is better than v2", "v2 is worse than v1", "metric (* primary)"):
        assert said.count(words) >= len(SUITES)


def test_every_command_of_the_tutorial_ends_as_the_page_says(tmp_path):
    project = copied("support", tmp_path)
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    typed = [(line, int(code or 0)) for line, code in TYPED.findall(page) if not line.startswith(SET_UP)]
    assert sum(line.startswith("evals") for line, _ in typed) > 10

    with live_model(say) as live:
        for line, code in typed:
            done, said = shell(project, line, **live)
            assert done == code, f"{line}\n{said}"


def test_the_tutorial_is_about_files_that_exist():
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:desk|prompts|evaluation)/[\w./-]+|evals\.toml|langgraph\.json)`", page)

    assert [place for place in named if not (ROOT / "docs/examples/support" / Path(place)).exists()] == []
