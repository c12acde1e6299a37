"""A run in the terminal: names that come from elsewhere are shown, and do nothing."""

from pathlib import Path

import pytest

from evals.cli.run_output import say_result
from evals.cli.terminal import wide_console
from evals.report.run_files import write_report
from tests.builders.facts import a_comparison
from tests.builders.run import a_case_info, a_run, a_trial, a_variant_info
from tests.builders.secret import PLANTED
from tests.builders.trace import a_trace


def test_names_of_models_and_variants_neither_colour_nor_mark_up(tmp_path, capsys):
    odd = "\x1b[31mv2[/x]"
    run = a_run(a_trial(a_trace(variant=odd)), variants=(a_variant_info(odd),), recorded_by=("m\x1b[2J[bold]",))

    write_report(run, tmp_path)
    say_result(run, "one trial", tmp_path, Path())

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "␛[31mv2[/x]" in said
    assert "m␛[2J[bold]" in said


@pytest.mark.parametrize(("body", "said"), [(f"use {PLANTED['anthropic_key']}", True), ("use the key", False)])
def test_what_is_withheld_from_the_report_is_told(body, said, tmp_path, capsys):
    run = a_run(cases=(a_case_info(body=body),))
    write_report(run, tmp_path)

    say_result(run, "one trial", tmp_path, Path())

    assert (
        "texts withheld from the report, for what looks like a secret in them: 1" in capsys.readouterr().out
    ) is said


@pytest.mark.parametrize(("of", "result"), [(80, "improvement so far"), (77, "improvement")])
def test_a_comparison_with_answers_missing_says_so_far(of, result, tmp_path, capsys):
    run = a_run(comparisons=(a_comparison(n=77, of=of, verdict="improvement"),), candidate="v3", reference="v2")
    write_report(run, tmp_path)

    say_result(run, "one trial", tmp_path, Path())

    *_, row = (line.rstrip() for line in capsys.readouterr().out.splitlines() if line.startswith("route.pass"))
    assert row.endswith(f"  {result}")


def test_a_printed_text_is_as_visible_as_a_cell(capsys):
    wide_console().print("one \x1b[31m two", markup=False)

    assert capsys.readouterr().out == "one ␛[31m two\n"
