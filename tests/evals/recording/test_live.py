"""The replay proof in words: where two traces part. (That a real recording is proven is shown in tests/whole.)"""

import pytest

from evals.models.trace import Miss
from evals.recording.live import difference
from tests.builders.trace import a_trace

RECORDED = a_trace("investigator", "writer")
MISSED = Miss(key="k", agent="critic", method="POST", path="/v1/chat/completions", model="m", decision=1)
PARTINGS = {
    "route": (a_trace("investigator", "critic"), "route investigator writer became investigator critic"),
    "miss": (a_trace("investigator", misses=(MISSED,)), "a request by critic is not on the tape"),
    "words": (a_trace("investigator", "writer", comment="other", topology="x"), "comment, topology differ"),
}


@pytest.mark.parametrize(("replayed", "said"), PARTINGS.values(), ids=PARTINGS.keys())
def test_a_failed_proof_says_where_the_traces_part(replayed, said):
    """A miss comes before the route it cut short: it is the cause."""
    assert difference(RECORDED, replayed) == said
