"""What is said to a name that is none, and the names there are."""

from importlib.metadata import version
from types import SimpleNamespace

import pytest

from evals.cli.main import main
from evals.cli.run_output import Watched
from tests.builders.trace import a_trace

WRONG = {
    "suite": (("run", "promts"), "did you mean 'prompts'?"),
    "case": (("run", "prompts", "--case", "quillmark-lost-link"), "did you mean 'quillmark-lost-links'?"),
    "variant": (("run", "prompts", "--variant", "v33"), "did you mean 'v3'?"),
    "prompt": (("compare", "v3", "v55"), "did you mean 'v5'?"),
    "prompt file": (
        ("compare", "v3", "triage/prompts/supervisor/v55.md"),
        "did you mean 'triage/prompts/supervisor/v5.md'?",
    ),
    "case to show": (("dataset", "show", "quillmark-lost-link"), "did you mean 'quillmark-lost-links'?"),
}


@pytest.mark.parametrize(("words", "hint"), WRONG.values(), ids=WRONG)
def test_a_wrong_name_is_answered_with_the_nearest_one(words, hint, tmp_path, capsys):
    out = ("--out", str(tmp_path)) if words[0] in ("run", "compare") else ()
    assert main([*words, *out]) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ("trial-timeout=3", "--set trial-timeout=3: there is no setting trial-timeout; did you mean 'timeout'?"),
        ("timeout", "--set timeout: write NAME=VALUE"),
    ],
)
def test_a_setting_that_is_not_there_is_no_question_of_its_form(pair, says, capsys):
    assert main(["record", "prompts", "--set", pair]) == 2
    assert capsys.readouterr().err.startswith(f"evals: {says}")


def test_the_progress_of_several_replays_never_passes_its_end():
    shown: list[int] = []
    watched = Watched(SimpleNamespace(of=shown.append, step=lambda _: None))
    for total in (2, 3):
        for _ in range(total):
            watched(a_trace(), reused=False, total=total)

    assert shown == [2, 2, 5, 5, 5]


def test_a_command_of_any_graph_shows_its_help_where_no_graph_is_set_up(capsys):
    assert main(["points", "--help"]) == 0
    assert "Replay the reference" in capsys.readouterr().out


def test_a_paragraph_of_help_is_broken_by_the_terminal_only(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", "--help"]) == 0
    assert "that prompt at REV, beside a stored run" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"evals {version('triage-evals')}\n"


def test_every_case_is_listed_with_archetype_split_and_title(capsys):
    assert main(["dataset", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert len(lines) == len({line.split()[0] for line in lines})
    assert "coldshelf-audit-trail-lag  duplicate  tune  Audit trail: writes take longer every month" in lines
