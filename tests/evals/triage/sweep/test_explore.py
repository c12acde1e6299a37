"""One trial stands for every point whose floor rules alike along it, and for no other."""

from evals.triage.sweep.sweep_run import explore
from tests.builders.case import a_case
from tests.builders.sweep import a_point, a_sure_trace


class Graph:
    """Runs a point by handing out a trace; remembers which points it was asked for."""

    def __init__(self, confidence, *found_by, **fields):
        self.trace = a_sure_trace(confidence, *found_by, **fields)
        self.ran = []

    def __call__(self, point):
        self.ran.append(point)
        return self.trace


def singles(*values):
    return [a_point(), *(a_point(value) for value in values)]


def test_thresholds_between_two_recorded_confidences_are_not_run():
    """The only report was asked for at 0.7: 0.5 to 0.7 let it pass as no floor does, 0.75 and more all hold it back."""
    graph = Graph(0.7)

    explored = explore(a_case(), singles(0.5, 0.6, 0.7, 0.75, 0.8, 0.95), graph)

    assert graph.ran == [a_point(), a_point(0.75)]
    assert explored.which == (0, 0, 0, 0, 1, 1, 1)


def test_thresholds_on_both_sides_of_a_confidence_are_run_apart():
    graph = Graph(0.7)

    explore(a_case(), [a_point(0.69), a_point(0.71)], graph)

    assert len(graph.ran) == 2


def test_the_number_of_findings_tells_points_apart():
    """Two findings at 0.7: enough where two corroborate, not where three must."""
    graph = Graph(0.7, "investigator", "codebase_search")

    explore(a_case(), [a_point(0.9, 0.7, 2), a_point(0.9, 0.6, 2), a_point(0.9, 0.7, 3)], graph)

    assert graph.ran == [a_point(0.9, 0.7, 2), a_point(0.9, 0.7, 3)]


def test_a_review_corroborates_nothing():
    graph = Graph(0.7, "investigator", "critic")

    explore(a_case(), [a_point(0.9, 0.9, 2), a_point(0.9, 0.7, 2)], graph)

    assert graph.ran == [a_point(0.9, 0.9, 2)]


def test_guard_sets_never_share_a_trial():
    graph = Graph(0.7)

    explore(a_case(), [a_point(guards="hardened"), a_point(guards="prd")], graph)

    assert len(graph.ran) == 2


def test_a_failed_trial_stands_for_itself_alone():
    """What broke it may have broken on the way: nothing is known of any other point."""
    graph = Graph(0.7, provenance="failed", error="boom")

    explore(a_case(), singles(0.5, 0.6), graph)

    assert len(graph.ran) == 3


def test_a_source_without_the_trace_ends_the_search():
    assert explore(a_case(), singles(0.5), lambda point: None) is None
