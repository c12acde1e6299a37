"""A miss in words."""

from evals.cassettes.calls_and_misses import describe
from tests.builders.interaction import a_miss


def test_a_miss_is_told_in_one_line():
    miss = a_miss("Line one\nof a question " + "with many words " * 20, agent="writer")

    assert describe(miss) == (
        "writer (small) asked POST /v1/chat/completions: Line one of a question with many words with many words with …"
    )
