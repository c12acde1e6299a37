"""Equal parts of results are one, and nothing of what is written changes."""

from evals.models.metrics import Scored
from evals.models.run import SharedParts
from evals.models.trace import Call
from tests.builders.run import a_trial
from tests.builders.trace import a_trace

CALL = {"agent": "critic", "key": "k", "model": "m", "latency_ms": 0.0}


def two(**more):
    """Two traces of variants that heard the same answer, each with objects of its own."""
    return [a_trace("investigator", variant=name, calls=(Call(**CALL | more),)) for name in ("v2", "v3")]


def test_variants_share_what_they_heard():
    shared = SharedParts()
    first, second = map(shared.trace, two())

    assert first.calls[0] is second.calls[0]
    assert first.visits[0] is second.visits[0]


def test_a_trace_of_shared_parts_is_written_as_before():
    shared = SharedParts()

    assert [shared.trace(trace).model_dump_json() for trace in two()] == [trace.model_dump_json() for trace in two()]


def test_parts_that_are_equal_but_written_otherwise_stay_apart():
    """-0.0 == 0.0, and yet a file would change by a sign."""
    shared = SharedParts()
    traces = [*two(), *two(latency_ms=-0.0)]

    assert [shared.trace(trace).model_dump_json() for trace in traces] == [trace.model_dump_json() for trace in traces]


def test_equal_scores_are_one():
    shared = SharedParts()
    first, second = (shared.trial(a_trial(outcomes={"route.pass": Scored(value=1.0)})) for _ in range(2))

    assert first.outcomes["route.pass"] is second.outcomes["route.pass"]
