"""Numbers of the page that lead to the rows they count."""

from evals.report.view.page_parts import ListLink, Lists


def test_a_list_names_rows_by_their_place_in_the_run():
    lists = Lists(["a", "b", "c"])

    assert lists.link("2", "the odd ones", ["c", "a"]) == ListLink("2", "0")
    assert lists.pool() == [("the odd ones", (0, 2))]


def test_a_page_carries_the_steps_from_one_place_to_the_next():
    lists = Lists(["a", "b", "c", "d"])
    lists.link("3", "some", ["b", "c", "d"])

    assert lists.steps() == [("some", (1, 1, 1))]
