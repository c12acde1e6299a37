"""Where the boxes of a DAG stand."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.report.view.plan_graph import BOX, GAP, laid_out


def a_row_of(layout, node: int) -> float:
    return next(box.y for box in layout.boxes if box.node == node)


@st.composite
def dags(draw) -> tuple[list[int], list[tuple[int, int]]]:
    """Up to twenty nodes; edges lead from a lower number to a higher one, so there is no cycle."""
    nodes = list(range(1, draw(st.integers(1, 20)) + 1))
    pairs = list(combinations(nodes, 2))
    return nodes, draw(st.lists(st.sampled_from(pairs), max_size=40)) if pairs else []


@given(dag=dags())
def test_every_node_stands_below_all_it_waits_for(dag):
    nodes, edges = dag
    layout = laid_out(nodes, edges)

    assert all(a_row_of(layout, start) < a_row_of(layout, end) for start, end in edges)


@given(dag=dags())
def test_no_box_touches_another_and_all_stand_inside(dag):
    layout = laid_out(*dag)
    corners = [(box.x, box.y) for box in layout.boxes]

    assert all(abs(x - u) >= BOX[0] or abs(y - v) >= BOX[1] for (x, y), (u, v) in combinations(corners, 2))
    assert all(0 <= x <= layout.width - BOX[0] and 0 <= y <= layout.height - BOX[1] for x, y in corners)


@given(dag=dags())
def test_no_edge_runs_through_a_box(dag):
    """It turns only between rows; through a row it goes straight down, where no box is."""
    layout = laid_out(*dag)
    pieces = [piece for way in layout.ways for piece in pairwise(way)]
    through = [(x, y) for (x, y), (to, end) in pieces if x == to and end - y == BOX[1]]

    assert all(end - y == GAP[1] or (x, y) in through for (x, y), (_, end) in pieces)
    assert not [1 for x, y in through for box in layout.boxes if box.y == y and box.x <= x <= box.x + BOX[0]]


@given(dag=dags())
def test_every_edge_is_drawn_once(dag):
    nodes, edges = dag

    assert len(laid_out(nodes, edges).ways) == len(set(edges))


@given(dag=dags())
def test_the_same_plan_is_drawn_the_same(dag):
    assert laid_out(*dag) == laid_out(*dag)


def test_a_task_stands_as_deep_as_its_longest_way():
    layout = laid_out([1, 2, 3], [(1, 2), (2, 3), (1, 3)])

    assert a_row_of(layout, 1) < a_row_of(layout, 2) < a_row_of(layout, 3)


def test_rows_are_ordered_so_that_parallel_chains_do_not_cross():
    layout = laid_out([1, 2, 3, 4], [(1, 4), (2, 3)])
    left = {box.node: box.x for box in layout.boxes}

    assert (left[1] < left[2]) == (left[4] < left[3])


@pytest.mark.parametrize("edges", [[(1, 2), (2, 1)], [(1, 1)], [(1, 9)]], ids=str)
def test_what_is_no_dag_is_drawn_all_the_same(edges):
    """A plan that is shown has passed the loader; a report made by hand must not break the page."""
    assert len(laid_out([1, 2], edges).boxes) == 2
