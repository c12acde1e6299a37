"""Decision confusion matrices."""

from types import SimpleNamespace

from evals.report.view.page import page
from evals.report.view.variant_tables import confusion_views
from tests.builders.measure import a_confusion
from tests.builders.run import a_run


def the_view(*cells: tuple[str, str, int, float], **fields) -> SimpleNamespace:
    """The matrix of (row, column, count, credit)."""
    (view,) = confusion_views(a_run(confusions=(a_confusion("v3", *cells, **fields),)))
    return view


def squares(view: SimpleNamespace) -> dict[tuple[str, str], tuple[str, str]]:
    """(row, column) -> (count, kind), where there is one."""
    return {
        (row.node, column): (square.count, square.kind)
        for row in view.rows
        for column, square in zip(view.columns, row.squares, strict=True)
        if square.count
    }


def test_a_choice_is_right_defensible_or_wrong():
    view = the_view(("critic", "critic", 7, 7.0), ("critic", "writer", 2, 0.0), ("writer", "critic", 1, 0.5))

    assert squares(view) == {
        ("critic", "critic"): ("7", "right"),
        ("critic", "writer"): ("2", "wrong"),
        ("writer", "critic"): ("1", "defensible"),
    }


def test_what_a_guard_overruled_is_not_called_wrong():
    view = the_view(("critic", "writer", 2, 0.0), decisions="trials")

    assert squares(view)["critic", "writer"] == ("2", "overruled")


def test_a_row_adds_up_and_the_matrix_says_what_it_rests_on():
    view = the_view(("critic", "critic", 7, 7.0), ("critic", "writer", 2, 0.0))

    assert [row.n for row in view.rows] == ["9"]
    assert view.rests_on == "9 of 12 decision points answered"


def test_a_bare_diagonal_is_named_and_not_drawn():
    shown = page(a_run(confusions=(a_confusion("v3", ("critic", "critic", 7, 7.0)),)))

    assert (shown.confusions, shown.diagonals) == ((), "v3, decision points")
