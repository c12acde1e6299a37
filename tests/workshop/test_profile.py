"""Properties are judged by what they say, not by how long a busy machine takes for an example."""

import time

from hypothesis import given
from hypothesis import strategies as st


@given(st.just(0.3))
def test_an_example_may_take_longer_than_hypothesis_allows_by_itself(seconds):
    """By default 0.2 seconds."""
    time.sleep(seconds)
