"""A run in the terminal: names that come from elsewhere are shown, and do nothing."""

from pathlib import Path

from evals.cli.terminal.console import wide_console
from evals.cli.terminal.result import say_result
from tests.builders.run import a_run, a_trial, a_variant_info
from tests.builders.trace import a_trace


def test_names_of_models_and_variants_neither_colour_nor_mark_up(capsys):
    odd = "\x1b[31mv2[/x]"
    run = a_run(a_trial(a_trace(variant=odd)), variants=(a_variant_info(odd),), recorded_by=("m\x1b[2J[bold]",))

    say_result(run, "one trial", Path("reports"), Path())

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "␛[31mv2[/x]" in said
    assert "m␛[2J[bold]" in said


def test_a_printed_text_is_as_visible_as_a_cell(capsys):
    wide_console().print("one \x1b[31m two", markup=False)

    assert capsys.readouterr().out == "one ␛[31m two\n"
