"""A trial on the screen: it fits, what is cut says so, and no text of a stranger acts."""

import io

import pytest

from evals.cli.explain_command import say_explained
from evals.cli.terminal import VisibleConsole
from evals.report.view.trial_explanation import ExplainedStep, Explanation


def screen(*told: Explanation, width: int = 80, label: str = "cause") -> str:
    out = io.StringIO()
    console = VisibleConsole(file=out, width=width, highlight=False)
    say_explained(console, ((label, "It is off by one."),), told)
    return out.getvalue()


def a_told(variant: str = "v5", reason: str = "because", wrong: str = "") -> Explanation:
    step = ExplainedStep("1  critic", (("chose", reason),), wrong)
    return Explanation(variant, "exact", (step,), (("scores", "✓ route"),))


def test_a_long_reason_takes_two_lines_and_says_that_it_goes_on():
    lines = [line for line in screen(a_told(reason="word " * 200)).splitlines() if "word" in line]

    assert len(lines) == 2
    assert lines[-1].rstrip().endswith("…")


def test_the_name_of_a_label_is_not_cut():
    assert "root_cause It is off by one." in screen(a_told(), label="root_cause")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_nothing_is_wider_than_the_terminal(width):
    told = screen(a_told("v3", "x" * 500), a_told("v5", "語" * 500), width=width)

    assert all(len(line) + line.count("語") <= width for line in told.splitlines())


def test_a_shorter_trial_beside_a_longer_one_leaves_its_place_empty():
    short = Explanation("v3", "exact", (), (("scores", "✗ route"),))

    assert "1  critic" in screen(short, a_told())


def test_text_that_would_act_is_shown_instead():
    told = screen(a_told("v5\x1b[31m", "red \x1b[31m [bold]and no markup[/bold]"))

    assert "\x1b" not in told
    assert "[bold]and no markup[/bold]" in told
