"""The page of a history: lines that end where numbers mean something else, and what every step says."""

from io import StringIO

import pytest
from rich.console import Console

from evals.cli.terminal import shown
from evals.report.html_page import render_sheet
from evals.report.view.history_page import history_page, red_lines, red_table, sentence, series_plot, step_table
from tests.builders.history import a_blessing, a_flip, a_history, a_mark, a_number, a_red

HOSTILE = "</style><script>alert(1)</script>\x1b[31m"


def rendered(history):
    """The page of a history, as its command writes it."""
    return render_sheet("history", history_page(history), "history.css")


def drawn(history, scorer="route.pass"):
    return series_plot(history, "v5", next(one for one in history.scorers if one.name == scorer))


def curves(plot) -> list[int]:
    """How many places each line has that is drawn through values."""
    return [len(line.points.split()) for line in plot.lines if line.kind == "curve"]


BREAKING = ["labels", "dataset", "scorers", "gone", "unread"]


@pytest.mark.parametrize("kind", BREAKING)
def test_a_line_across_another_measure_is_broken(kind):
    history = a_history(a_blessing(1), a_blessing(2), a_blessing(3, marks=[a_mark(kind)]), a_blessing(4))

    assert curves(drawn(history)) == [2, 2]


@pytest.mark.parametrize("kind", ["prompt", "graph"])
def test_a_line_goes_on_across_what_is_measured(kind):
    history = a_history(a_blessing(1), a_blessing(2, marks=[a_mark(kind)]))

    assert curves(drawn(history)) == [2]


def test_a_line_is_not_drawn_past_a_value_nobody_knows():
    history = a_history(a_blessing(1), a_blessing(2, mean=None), a_blessing(3))

    assert curves(drawn(history)) == [1, 1]


def test_a_plot_says_only_what_changed_for_its_variant():
    marks = [a_mark("prompt", variants=["v1"]), a_mark("labels"), a_mark("graph", variants=["v5"])]

    assert [note.label for note in drawn(a_history(a_blessing(1), a_blessing(2, marks=marks))).notes] == ["LN"]


def test_many_values_have_a_band_and_dots_where_something_changes():
    line = [a_blessing(number, mean=0.5 if number < 50 else 0.75) for number in range(1, 101)]

    plot = drawn(a_history(*line))

    assert [item.kind for item in plot.lines] == ["band", "curve"]
    assert len(plot.dots) == 3


def test_a_metric_nobody_knows_says_so_instead_of_a_drawing():
    assert drawn(a_history(a_blessing(1, mean=None))).cannot.startswith("cannot judge: no baseline says")


def test_the_sentence_counts_only_baselines_that_compare():
    history = a_history(
        a_blessing(1, mean=0.1), a_blessing(2, mean=0.5, marks=[a_mark("labels")]), a_blessing(3, mean=0.7)
    )

    assert sentence(history) == (
        "v5 stands at 70 % on route.pass over 10 cases: +20 points since 2026-01-02, over 2 baselines that compare."
    )


def test_flips_stand_by_variant_metric_and_direction():
    flips = [a_flip("a"), a_flip("b", now=1.0, was=0.0), a_flip("c", relabelled=True)]
    step = history_page(a_history(a_blessing(1), a_blessing(2, flips=flips))).steps[0]

    assert [(row.kind, row.cases, row.note) for row in step.flips] == [
        ("worse", ("a", "c"), "labels or scorers changed of 1"),
        ("better", ("b",), ""),
    ]


def test_the_terminal_shows_the_last_steps_and_counts_the_others():
    table = step_table(a_history(*(a_blessing(number) for number in range(1, 26))))

    assert table.caption == "Baselines of prompts; the 5 before are on the page; values of v5"
    assert table.rows[-1][0] == "0000025"


def test_a_red_case_says_since_when_and_what_changed_meanwhile():
    red = a_red(always=True, relabelled=["0000003" + "0" * 33], baselines=4)

    assert red_table(a_history(red=[red])).rows[0][3:] == (
        "0 %",
        "0000002, 2026-01-02 (never seen to pass)",
        "4 baselines",
        "once, in 0000003",
    )


def test_a_last_baseline_that_cannot_be_read_still_has_its_page():
    history = a_history(a_blessing(1), a_blessing(2, summaries=(), unread="its baseline cannot be read"))

    assert sentence(history) == "The last baseline of prompts has no value of a metric."
    assert "its baseline cannot be read" in rendered(history)


def test_text_of_strangers_is_only_text():
    page = rendered(a_history(a_blessing(1, subject=HOSTILE, author=HOSTILE, marks=[a_mark(text=HOSTILE)])))

    assert "<script" not in page
    assert "\x1b" not in page


def test_the_terminal_tables_fit_80_columns_and_break_no_name():
    steps = [a_blessing(number, marks=[a_mark("variants"), a_mark("scorers")]) for number in (1, 2)]
    red = a_red("quillmark-stocking-leaflets", endpoint="root_cause.hit", always=True)
    history = a_history(*steps, red=[red])
    console = Console(width=80, file=StringIO())
    for table in (step_table(history), red_lines(history)):
        console.print(shown(table))
    said = console.file.getvalue()

    assert max(map(len, said.splitlines())) <= 80
    names = {
        "route.",
        "root_cause.",
        "decision.",
        "variants,",
        "scorers",
        "root_cause.hit",
        "quillmark-stocking-leaflets",
    }
    assert names <= set(said.split())


def test_the_page_shows_the_candidate_and_folds_the_other_variants():
    both = [a_number(name, "route.pass", 0.5) for name in ("v3", "v5")]
    page = history_page(a_history(a_blessing(1, summaries=both), variants=("v3", "v5")))

    assert page.metrics[0].rests_on == "v5, 1 of 1 baselines"
    assert [plot.rests_on for plot in page.others] == ["v3, 1 of 1 baselines"]
