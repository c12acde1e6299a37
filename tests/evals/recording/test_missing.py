"""What the tape lacks, counted: equal requests once, decision points apart."""

from evals.models.trace import Miss
from evals.recording.missing import missing_of
from tests.builders.trace import a_trace, an_answer


def a_missed(key="k1", agent="critic"):
    return Miss(key=key, agent=agent, method="POST", path="/v1/chat/completions", model="m", decision=0)


def test_equal_requests_of_one_case_count_once():
    traces = [a_trace(case_id="a", sample=n, misses=(a_missed(),)) for n in range(2)]

    found = missing_of("v3", traces)

    assert (found.of, found.trials, found.keys, found.by_agent) == (2, 2, ("a/k1",), (("critic", 1),))


def test_the_same_request_in_two_cases_counts_twice():
    """Each case has a cassette of its own."""
    traces = [a_trace(case_id=case, misses=(a_missed(),)) for case in ("a", "b")]

    assert missing_of("v3", traces).by_agent == (("critic", 2),)


def test_unanswered_decision_points_are_counted_apart():
    trace = a_trace(points=(an_answer(chosen=None), an_answer("p2")), point_misses=(a_missed(agent="supervisor"),))

    found = missing_of("v3", [trace])

    assert (found.trials, found.points, found.by_agent) == (0, 1, (("supervisor", 1),))
